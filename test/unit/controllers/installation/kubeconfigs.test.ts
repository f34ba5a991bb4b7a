/** Kubeconfigs that templates request: the used credentials, the requests to which cluster, and the errors. */
import { expect } from 'chai';
import { kubeconfigIssuer } from '../../../../controllers/installation/gather/issue-kubeconfigs.ts';
import { KubeconfigUnusable } from '../../../../src/blueprint/kubeconfigs/document.ts';
import { IssuerUnavailable } from '../../../../src/blueprint/kubeconfigs/errors.ts';
import type { Issued, KubeconfigRequest } from '../../../../src/blueprint/kubeconfigs/request.ts';
import {
  KubeconfigError,
  ResponseTooLarge,
  TransportError,
  apiErrorFrom,
} from '../../../../src/runtime/errors.ts';
import type { Client, Obj } from '../../../../src/runtime/types.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';
import { server } from './server.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (encoded: string): string => Buffer.from(encoded, 'base64').toString('utf8');

const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'k', user: 'admin' } }],
  clusters: [{ name: 'k', cluster: { server: 'https://x.org' } }],
  users: [{ name: 'admin', user: { token: 't' } }],
});
const target = (spec: object, metadata: object = {}) => ({
  metadata: { name: 'cluster', ...metadata },
  spec,
});
const direct = target({ config: { kubeconfig: KUBECONFIG } });

interface Given {
  readonly target?: unknown;
  readonly stored?: readonly Obj[];
  readonly more?: Partial<KubeconfigRequest>;
  /** The responses of the other cluster, or its errors. */
  readonly answer?: unknown;
  readonly refusal?: Error;
  /** The error of connecting to the other cluster. */
  readonly closed?: Error;
}

async function issue({ target: given = direct, stored = [], more = {}, answer, refusal, closed }: Given) {
  const opened: string[] = [];
  const sent: unknown[] = [];
  const cluster = {
    raw(...request: unknown[]) {
      sent.push(request.slice(0, 3));
      return refusal ? Promise.reject(refusal) : Promise.resolve(answer);
    },
  } as unknown as Client;
  const { asked, client } = server(...stored);
  const sources = {
    open(kubeconfig: string) {
      opened.push(kubeconfig);
      return closed ? Promise.reject(closed) : Promise.resolve(cluster);
    },
    close: () => Promise.resolve(),
  };
  const request: KubeconfigRequest = {
    kind: 'own',
    name: 'robot',
    namespace: 'ns',
    expirationSeconds: 600,
    target: given,
    ...more,
  };
  const issued = await kubeconfigIssuer({ client, sources }, 'demo')(request);
  return { issued, opened, sent, asked };
}
const own = async (given: unknown, ...stored: Obj[]): Promise<Issued> =>
  (await issue({ target: given, stored })).issued;
const secret = (data: Record<string, string> | undefined): Obj => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'demo' },
  ...(data && { data }),
});
const problem = (why: string, what = 'the target itself', name = 'cluster') => ({
  problem: `no kubeconfig for ${what}, with the access of target ${name}: ${why}`,
});

describe('the kubeconfig of a target', () => {
  const referring = (ref: object = {}, metadata: object = {}) =>
    target({ secretRef: { name: 's', ...ref } }, metadata);
  const found: readonly (readonly [
    title: string,
    target: unknown,
    secret: Obj | undefined,
    kubeconfig: string,
  ])[] = [
    ['is a string in its configuration', direct, undefined, KUBECONFIG],
    ['is a map in its configuration', target({ config: { kubeconfig: { a: 1 } } }), undefined, '{"a":1}'],
    ['is an entry of its secret', referring(), secret({ kubeconfig: base64('k: 1') }), 'k: 1'],
    [
      'is in the content of a target in its secret',
      referring({ key: 'config' }),
      secret({ config: base64('{kubeconfig: text}') }),
      'text',
    ],
    [
      'is a whole entry of its secret',
      referring({ key: 'config' }),
      secret({ config: base64('a: 1') }),
      'a: 1',
    ],
    [
      'is in a secret of its own namespace, which the target may name',
      referring({}, { namespace: 'demo' }),
      secret({ kubeconfig: base64('k') }),
      'k',
    ],
  ];
  for (const [title, given, stored, kubeconfig] of found) {
    it(title, async () => {
      expect(await own(given, ...(stored ? [stored] : []))).to.deep.equal({ kubeconfig: base64(kubeconfig) });
    });
  }
  it('needs no request to another cluster if it is requested itself', async () => {
    const { opened, asked } = await issue({});
    expect([opened, asked]).to.deep.equal([[], []]);
  });

  const lacking: readonly (readonly [
    title: string,
    target: unknown,
    secret: Obj | undefined,
    why: string,
  ])[] = [
    ['its configuration has none', target({ config: {} }), undefined, 'the target contains no kubeconfig'],
    ['it is empty', target({ config: { kubeconfig: '' } }), undefined, 'the target contains no kubeconfig'],
    ['it is a number', target({ config: { kubeconfig: 1 } }), undefined, 'the target contains no kubeconfig'],
    ['there is no configuration', target({}), undefined, 'the target has neither a config nor a secretRef'],
    [
      'its secret has no name',
      target({ secretRef: { name: 1 } }),
      undefined,
      'the target has neither a config nor a secretRef',
    ],
    [
      'it names another namespace',
      referring({}, { namespace: 'other' }),
      secret({ kubeconfig: base64('k') }),
      'the target is in namespace "other", but only secrets in "demo", the namespace of the installation, can be read',
    ],
    ['there is no secret', referring(), undefined, 'secret demo/s, which the target references, not found'],
    ['the secret is empty', referring(), secret(undefined), 'the target contains no kubeconfig'],
    [
      'the secret does not have the key',
      referring({ key: 'k' }),
      secret({ a: 'x' }),
      'key k in secret demo/s does not exist',
    ],
    [
      'the secret contains invalid YAML',
      referring({ key: 'k' }),
      secret({ k: base64('{') }),
      'key k in secret demo/s is not valid YAML',
    ],
  ];
  for (const [title, given, stored, why] of lacking) {
    it(`is missing if ${title}`, async () => {
      expect(await own(given, ...(stored ? [stored] : []))).to.deep.equal(problem(why));
    });
  }
  it('is missing if there is no target at all', async () => {
    const why = 'the target has neither a config nor a secretRef';
    for (const given of [null, 7, 'x', { metadata: { name: 1 } }, { metadata: { name: '' } }]) {
      expect(await own(given)).to.deep.equal(problem(why, 'the target itself', '(without a name)'));
    }
  });
});

describe('the kubeconfig of a service account', () => {
  const more = { kind: 'account' } as const;
  const answer = { status: { token: 'fresh', expirationTimestamp: '2026-01-01T01:00:00Z' } };

  it('has a token from the cluster of the target', async () => {
    const { issued, opened, sent } = await issue({ more, answer });
    if ('problem' in issued) throw new Error(issued.problem);
    expect(opened).to.deep.equal([KUBECONFIG]);
    expect(sent).to.deep.equal([
      [
        'POST',
        '/api/v1/namespaces/ns/serviceaccounts/robot/token',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } },
      ],
    ]);
    expect(issued.expirationTimestamp).to.equal('2026-01-01T01:00:00Z');
    expect(parseYaml(plain(issued.kubeconfig))).to.deep.include({
      users: [{ name: 'robot', user: { token: 'fresh' } }],
    });
  });
  it('may be valid without expiry', async () => {
    const { issued } = await issue({ more, answer: { status: { token: 'fresh' } } });
    expect(issued).to.have.all.keys('kubeconfig');
  });
  it('is missing without a token', async () => {
    for (const empty of [{}, { status: { token: '' } }, undefined]) {
      const { issued } = await issue({ more, answer: empty });
      expect(issued).to.deep.equal(
        problem('the response of the cluster contains no token', 'service account ns/robot'),
      );
    }
  });
});

describe('the kubeconfig of a shoot', () => {
  const more = { kind: 'shoot', name: 'prod', namespace: 'garden-x' } as const;
  it('comes from the Gardener project of the target', async () => {
    const kubeconfig = base64('admin');
    const { issued, sent } = await issue({
      more,
      answer: { status: { kubeconfig, expirationTimestamp: 'T' } },
    });
    expect(issued).to.deep.equal({ kubeconfig, expirationTimestamp: 'T' });
    expect(sent).to.deep.equal([
      [
        'POST',
        '/apis/core.gardener.cloud/v1beta1/namespaces/garden-x/shoots/prod/adminkubeconfig',
        {
          apiVersion: 'authentication.gardener.cloud/v1alpha1',
          kind: 'AdminKubeconfigRequest',
          metadata: { name: 'prod', namespace: 'garden-x' },
          spec: { expirationSeconds: 600 },
        },
      ],
    ]);
  });
  it('may be valid without expiry', async () => {
    const { issued } = await issue({ more, answer: { status: { kubeconfig: 'k' } } });
    expect(issued).to.deep.equal({ kubeconfig: 'k' });
  });
  it('is missing without a kubeconfig', async () => {
    const { issued } = await issue({ more, answer: { status: {} } });
    expect(issued).to.deep.equal(
      problem('the response of the cluster contains no kubeconfig', 'shoot garden-x/prod'),
    );
  });
});

describe('a cluster that issues no kubeconfig', () => {
  const more = { kind: 'shoot', name: 'prod', namespace: 'garden-x' } as const;
  const api = (status: number) =>
    apiErrorFrom(status, { message: 'words' }, { verb: 'POST', kind: '/x', name: 'prod' });
  const certificate = Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' });

  const definite: readonly (readonly [string, Partial<Given>, RegExp])[] = [
    ['refuses', { refusal: api(403) }, /the server of target cluster answered: words$/],
    [
      'has a certificate that is not trusted',
      { refusal: new TransportError({ message: 'tls', safeToRepeat: true, cause: certificate }) },
      /tls$/,
    ],
    ['has a kubeconfig that cannot be used', { closed: new KubeconfigError({ message: 'odd' }) }, /odd$/],
    [
      'answers too much',
      {
        refusal: new ResponseTooLarge({ message: 'large', excess: 'bytes', isFinal: true }),
      },
      /large$/,
    ],
    ['has a kubeconfig without a user to replace', { closed: new KubeconfigUnusable('no user') }, /no user$/],
  ];
  for (const [title, given, why] of definite) {
    it(`ends the request if it ${title}`, async () => {
      const { issued } = await issue({ more, ...given });
      expect(issued)
        .to.have.property('problem')
        .that.matches(/^no kubeconfig for shoot garden-x\/prod, with the access of target cluster: /)
        .and.matches(why);
    });
  }

  const caught = (given: Partial<Given>): Promise<unknown> =>
    issue({ more, ...given }).then(
      ({ issued }) => issued,
      (error: unknown) => error,
    );
  const passing: readonly (readonly [string, Error])[] = [
    ['fails', api(500)],
    ['is busy', api(429)],
    ['cannot be reached', new TransportError({ message: 'refused', safeToRepeat: true })],
  ];
  for (const [title, refusal] of passing) {
    it(`is retried if it ${title}`, async () => {
      const error = await caught({ refusal });
      if (!(error instanceof IssuerUnavailable)) throw new Error(String(error));
      expect(error.message).to.match(
        /^no kubeconfig for shoot garden-x\/prod, with the access of target cluster: /,
      );
      expect(error.cause).to.equal(refusal);
    });
  }
  it('does not hide a bug', async () => {
    const bug = new TypeError('bug');
    expect(await caught({ closed: bug })).to.equal(bug);
  });
});
