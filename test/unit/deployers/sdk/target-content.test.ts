/** The content of a target, and its kubeconfig. */
import { expect } from 'chai';
import { ConfigurationError } from '../../../../deployers/sdk/errors.ts';
import { aliased } from '../../../support/aliases.ts';
import { FakeClock } from '../../../support/clock.ts';
import {
  createTargetReader,
  validateTarget,
  type ResolvedTarget,
  type SelfCluster,
} from '../../../../deployers/sdk/target.ts';
import type { Target } from '../../../../deployers/sdk/kinds.ts';
import type { TokenRequest } from '../../../../deployers/sdk/tokens.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { LS } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const targetOf = (spec: object): View<Target> => ({
  apiVersion: `${LS}/v1alpha1`,
  kind: 'Target',
  spec: { type: 'x/y', ...spec },
  metadata: { name: 'a', namespace: 'proj' },
});

function given(self?: SelfCluster) {
  const asked: TokenRequest[] = [];
  const host = new FakeCluster('proj');
  const reader = createTargetReader({
    client: host,
    self,
    clock: new FakeClock(),
    pool: { open: () => Promise.reject(new Error('no way')), close: () => Promise.resolve() },
    tokens: {
      of: (request) => {
        asked.push(request);
        return Promise.resolve('token');
      },
      forget: () => true,
    },
  });
  const resolve = (spec: object) => reader.resolve(targetOf(spec), new AbortController().signal);
  const kubeconfigOf = async (config: object): Promise<unknown> =>
    JSON.parse(await (await resolve({ config })).kubeconfig()) as unknown;
  const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
  return { host, asked, resolve, kubeconfigOf, failure };
}

const serviceAccount = { name: 'deploy' };
const kubeconfig = (cluster: object): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'target',
  clusters: [{ name: 'target', cluster }],
  users: [{ name: 'target', user: { token: 'token' } }],
  contexts: [{ name: 'target', context: { cluster: 'target', user: 'target' } }],
});

describe('the content of a target', () => {
  const inSecret = async (data: Readonly<Record<string, string>>, key?: string) => {
    const { host, resolve, failure } = given();
    const coded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
    host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'proj' },
      data: Object.fromEntries(coded) as Record<string, string>,
    });
    return failure(resolve({ secretRef: { name: 's', ...(key !== undefined && { key }) } }));
  };

  it('is refused for good when the entries of the secret stand for too much together', async () => {
    const data = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${String(i)}`, aliased(3)]));
    const error = await inSecret(data);
    expect(error).to.be.instanceOf(ConfigurationError);
    expect((error as Error).message).to.equal(
      'the secret of target a is too large: the values, with their aliases, have more than 4 MiB together; name one of its keys in spec.secretRef.key',
    );
  });

  it('is refused before it is used when the aliases of one key stand for too much', async () => {
    const target = (await inSecret({ k: aliased(40) }, 'k')) as ResolvedTarget;
    expect(() => {
      validateTarget(target, 'Reconcile');
    }).to.throw(
      ConfigurationError,
      'the content of target a is too large: the values, with their aliases, have more than 4 MiB',
    );
  });

  for (const [title, text, message] of [
    ['an integer beyond 2^53', 'a: 1\nb: 9007199254740993', 'line 2 is an integer beyond 2^53'],
    ['no YAML', 'a: [', 'the content of target a is not valid YAML'],
  ] as const)
    it(`is refused before it is used when one key has ${title}`, async () => {
      const target = (await inSecret({ k: text }, 'k')) as ResolvedTarget;
      expect(() => {
        validateTarget(target, 'Reconcile');
      }).to.throw(ConfigurationError, message);
    });

  it('has scalar fields as strings', async () => {
    const { resolve } = given();
    const { text } = await resolve({ config: { a: 'x', b: 5, c: false, d: {}, e: null } });
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(text)).to.deep.equal([
      'x',
      '5',
      'false',
      undefined,
      undefined,
      undefined,
    ]);
    const empty = await resolve({ config: null });
    expect([empty.content, empty.text('a')]).to.deep.equal([undefined, undefined]);
  });

  for (const [title, data, key, message] of [
    ['has no secret', undefined, 'k', 'secret proj/s not found'],
    ['has a secret without the key', {}, 'k', 'key k in secret proj/s does not exist'],
  ] as const) {
    it(`cannot be read when the target ${title}`, async () => {
      const { host, resolve, failure } = given();
      if (data) host.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'proj' } });
      const error = await failure(resolve({ secretRef: { name: 's', key } }));
      expect(error).to.deep.include({ operation: 'ResolveTarget', reason: 'ResolveTarget' });
      expect(error).to.have.property(
        'message',
        `error resolving secret reference (proj/s#k) for Target 'proj/a': ${message}`,
      );
    });
  }

  it('may be a whole secret, whose entries may be strings', async () => {
    const { host, resolve } = given();
    const data = { a: Buffer.from('x: 1').toString('base64'), b: Buffer.from('x: [').toString('base64') };
    host.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'proj' }, data });
    expect(JSON.parse((await resolve({ secretRef: { name: 's' } })).content ?? '')).to.deep.equal({
      a: { x: 1 },
      b: 'x: [',
    });
  });

  it('is not shown if its cluster cannot be opened', async () => {
    const { resolve, failure } = given();
    const config = { clusters: [{ name: 'c', cluster: { server: 'https://secret.invalid' } }] };
    const error = await failure((await resolve({ config })).kube());
    expect(error).to.deep.include({ operation: 'TargetAccess', reason: 'ensureTargetAccess' });
    expect(error).to.have.property('message', 'the target cannot be used: no way');
  });
});

describe('the kubeconfig of a target', () => {
  const server = 'https://a.invalid';

  it('by OIDC has its server, and a token of the host', async () => {
    const { kubeconfigOf, asked } = given();
    expect(await kubeconfigOf({ oidcConfig: { server, serviceAccount } })).to.deep.equal(
      kubeconfig({ server }),
    );
    const whole = { server, serviceAccount, caData: 'Y2E=', audience: ['x', 'y'], expirationSeconds: 600 };
    expect(await kubeconfigOf({ kubeconfig: null, oidcConfig: whole })).to.deep.equal(
      kubeconfig({ server, 'certificate-authority-data': 'Y2E=' }),
    );
    const request = { namespace: 'proj', account: 'deploy' };
    expect(asked).to.deep.equal([
      { ...request, expirationSeconds: 86_400 },
      { ...request, expirationSeconds: 600, audiences: ['x', 'y'] },
    ]);
  });

  it('of the host itself is that of the deployer', async () => {
    const { kubeconfigOf } = given({ server, caData: 'Y2E=', insecureSkipTlsVerify: true });
    expect(await kubeconfigOf({ selfConfig: { serviceAccount } })).to.deep.equal(
      kubeconfig({ server, 'certificate-authority-data': 'Y2E=', 'insecure-skip-tls-verify': true }),
    );
    expect(await given({ server }).kubeconfigOf({ selfConfig: { serviceAccount } })).to.deep.equal(
      kubeconfig({ server }),
    );
  });

  for (const [config, message] of [
    [{ oidcConfig: { serviceAccount } }, 'the oidcConfig of the target has no server'],
    [{ oidcConfig: { server } }, 'the target has no service account'],
    [{ oidcConfig: { server, serviceAccount: { name: '' } } }, 'the target has no service account'],
    [{ oidcConfig: { server, serviceAccount: { name: 5 } } }, 'the target has no service account'],
    [
      { selfConfig: { serviceAccount } },
      'self targets are not available: the address of this cluster is not configured',
    ],
  ] as const) {
    it(`is rejected: ${JSON.stringify(config)}`, async () => {
      const { kubeconfigOf, failure } = given();
      const error = await failure(kubeconfigOf(config));
      expect(error).to.deep.include({ operation: 'TargetAccess', reason: 'ensureTargetAccess' });
      expect(error).to.have.property('message', message);
    });
  }
});
