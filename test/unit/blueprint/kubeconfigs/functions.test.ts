import { expect } from 'chai';
import { KubeconfigUnusable, withToken } from '../../../../src/blueprint/kubeconfigs/document.ts';
import { KubeconfigProblem, TooManyKubeconfigs } from '../../../../src/blueprint/kubeconfigs/errors.ts';
import { kubeconfigFunctions } from '../../../../src/blueprint/kubeconfigs/functions.ts';
import { IssuedKubeconfigs } from '../../../../src/blueprint/kubeconfigs/issued.ts';
import {
  keyOf,
  KubeconfigNeeded,
  kubeconfigNeeded,
  type KubeconfigRequest,
} from '../../../../src/blueprint/kubeconfigs/request.ts';
import { toYaml } from '../../../../src/lib/yaml.ts';

const target = {
  metadata: { name: 't', namespace: 'demo' },
  spec: { config: { kubeconfig: 'secret-text' } },
};
const request: KubeconfigRequest = {
  kind: 'account',
  name: 'robot',
  namespace: 'demo',
  expirationSeconds: 600,
  target,
};
const asked = (run: () => unknown): KubeconfigRequest | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return kubeconfigNeeded(new Error('an engine', { cause: error }));
  }
};

describe('a function that returns a kubeconfig', () => {
  const functions = kubeconfigFunctions({});
  const rows: readonly (readonly [string, keyof typeof functions, readonly unknown[], string])[] = [
    [
      'too few arguments',
      'getShootAdminKubeconfig',
      ['a', 'b', 1],
      'getShootAdminKubeconfig expects 4 arguments: shoot name, shoot namespace, expiration seconds, and target',
    ],
    [
      'an invalid name',
      'getServiceAccountKubeconfig',
      [5, 'b', 1, target],
      'getServiceAccountToken expects a string as 1st argument, the service account name',
    ],
    [
      'a name that changes the path of the request',
      'getServiceAccountKubeconfig',
      ['a', '../../secrets', 1, target],
      'getServiceAccountToken expects a service account namespace of lower-case letters',
    ],
    [
      'a time that is a string',
      'getShootAdminKubeconfig',
      ['a', 'b', '600', target],
      'expects an integer as 3rd argument, the expiration seconds: unsupported type string',
    ],
    [
      'an invalid target',
      'getShootAdminKubeconfigWithExpirationTimestamp',
      ['a', 'b', 600, 'my-cluster'],
      'expects a target object as 4th argument',
    ],
    [
      'too many arguments',
      'getOidcKubeconfig',
      ['a', 'b', target, 1],
      'expects 3 arguments: issuer url, client id',
    ],
    [
      'an issuer that is not a string',
      'getOidcKubeconfig',
      [1, 'b', target],
      'as 1st argument, the issuer url',
    ],
  ];
  for (const [title, name, args, message] of rows) {
    it(`rejects ${title}`, () => {
      expect(() => functions[name](args)).to.throw(KubeconfigProblem, message);
    });
  }

  it('requests a kubeconfig that is not available yet, with a message that shows nothing of the target', () => {
    const run = (): unknown => functions.getServiceAccountKubeconfig(['robot', 'demo', 600n, target]);
    expect(asked(run)).to.deep.equal(request);
    expect(run).to.throw(KubeconfigNeeded).with.property('message').that.does.not.contain('secret-text');
  });

  it('requests once for equal arguments, and again for others', () => {
    const issued = { [keyOf(request)]: { kubeconfig: 'a3ViZQ==' } };
    const { getServiceAccountKubeconfig: get } = kubeconfigFunctions(issued);
    expect(get(['robot', 'demo', 600, target])).to.equal('a3ViZQ==');
    const others = [
      ['other', 'demo', 600, target],
      ['robot', 'else', 600, target],
      ['robot', 'demo', 601, target],
      ['robot', 'demo', 600, { ...target, spec: {} }],
    ];
    for (const args of others)
      expect(
        asked(() => get(args)),
        JSON.stringify(args),
      ).to.not.equal(undefined);
  });

  it('reports that there is no cluster for the request', () => {
    const { getShootAdminKubeconfig: get } = kubeconfigFunctions(undefined);
    expect(() => get(['a', 'b', 600, target])).to.throw(
      KubeconfigProblem,
      'rendering does not call clusters',
    );
  });
});

describe('issued kubeconfigs', () => {
  it('are stored by request, and known to the code that masks them', async () => {
    const issued = new IssuedKubeconfigs(() => Promise.resolve({ kubeconfig: 'a3ViZQ==' }));
    await issued.fetch(request);
    expect(Object.keys(issued.byKey)).to.deep.equal([keyOf(request)]);
    expect(issued.secrets).to.include('kube').and.to.include('a3ViZQ==');
  });

  it('are limited in number', async () => {
    const issued = new IssuedKubeconfigs(() => Promise.resolve({ problem: 'no' }));
    for (let i = 0; i < 50; i++) await issued.fetch({ ...request, expirationSeconds: i });
    const error = await issued.fetch(request).catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(TooManyKubeconfigs);
  });
});

describe('a kubeconfig with another user', () => {
  const whole = {
    'current-context': 'b',
    contexts: [
      { name: 'a', context: { cluster: 'a', user: 'a' } },
      { name: 'b', context: { cluster: 'b', user: 'b', namespace: 'n' } },
    ],
    clusters: [
      { name: 'a', cluster: { server: 'https://a' } },
      { name: 'b', cluster: { server: 'https://b' } },
    ],
    users: [{ name: 'b', user: { token: 'of-the-target' } }],
  };

  it('has only the needed context and cluster', () => {
    const text = Buffer.from(withToken(toYaml(whole), 'robot', 'fresh'), 'base64').toString();
    expect(text).to.equal(`apiVersion: v1
clusters:
- cluster:
    server: https://b
  name: b
contexts:
- context:
    cluster: b
    namespace: "n"
    user: robot
  name: b
current-context: b
kind: Config
preferences: {}
users:
- name: robot
  user:
    token: fresh
`);
  });

  const broken: readonly (readonly [string, string, string])[] = [
    ['invalid YAML', 'a: [secret', 'is not valid YAML'],
    ['not a map', '- secret', 'is not a map'],
    ['without context', toYaml({ ...whole, 'current-context': 'c' }), 'has no current context'],
    [
      'without cluster',
      toYaml({ ...whole, clusters: [] }),
      'refers to a cluster that the kubeconfig does not contain',
    ],
  ];
  for (const [title, text, message] of broken) {
    it(`is not created from a kubeconfig that is ${title}, and the message does not show it`, () => {
      expect(() => withToken(text, 'robot', 't'))
        .to.throw(KubeconfigUnusable, message)
        .with.property('message')
        .that.does.not.contain('secret');
    });
  }
});
