/** The webhook server and its objects: what is written first, which versions writes are based on, and what failures lead to. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import type { KeyPair } from '../../../src/lib/certificates.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { Secret } from '../../../src/runtime/core-kinds.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import { renewal, type Certificates } from '../../../src/runtime/webhooks/certificates.ts';
import { CHECK_MS } from '../../../src/runtime/webhooks/checking.ts';
import { currentCertificates } from '../../../src/runtime/webhooks/secret.ts';
import {
  CERTIFICATES_SECRET,
  clusterRoleKind,
  CONFIGURATION_NAME,
  configurationKind,
  webhookConfiguration,
} from '../../../src/webhooks/configuration.ts';
import type { Webhooks } from '../../../src/webhooks/index.ts';
import { ownSecret } from '../../../src/webhooks/owned-secret.ts';
import { installConfiguration, removeConfiguration } from '../../../src/webhooks/install.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { freePort } from '../../support/ports.ts';
import { eventually } from '../../support/waiting.ts';
import { greeting, serveWebhooks, type HookOptions } from '../../support/webhooks.ts';
import { FakeCluster, type Request } from '../runtime/support/fake-cluster.ts';

const KEY = `demo/${CERTIFICATES_SECRET}`;
const HOST = '127.0.0.1';

/** Certificates of an authority of their own. */
async function issued(): Promise<Certificates> {
  const newKeys = (): Promise<KeyPair> =>
    Promise.resolve(generateKeyPairSync('rsa', { modulusLength: 2048 }) as KeyPair);
  const now = new FakeClock().wall();
  const made = await renewal(undefined, [HOST], now, { commonName: 'landscaper-webhook', newKeys });
  if (!made) throw new Error('none were issued');
  return made.certificates;
}
const dataOf = ({ caBundle, caKey, certificate, key }: Certificates): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ 'ca.crt': caBundle, 'ca.key': caKey, 'tls.crt': certificate, 'tls.key': key }).map(
      ([name, pem]) => [name, Buffer.from(pem).toString('base64')],
    ),
  );
const error = (code: number, reason: string) => apiErrorFrom(code, { reason }, { verb: 'x', kind: 'X' });
const print = ({ certificate }: Certificates): string => new X509Certificate(certificate).fingerprint256;
const caught = (work: Promise<unknown>): Promise<unknown> => work.catch((each: unknown) => each);

describe('the webhook server', () => {
  let first: Certificates;
  let second: Certificates;
  before(async () => {
    [first, second] = [await issued(), await issued()];
  });

  let cluster: FakeCluster;
  let clock: FakeClock;
  let port: number;
  let running: Webhooks | undefined;
  beforeEach(async () => {
    [cluster, clock, port] = [new FakeCluster(), new FakeClock(), await freePort()];
    cluster.put(Secret, { metadata: { name: CERTIFICATES_SECRET, namespace: 'demo' }, data: dataOf(first) });
  });
  afterEach(async () => {
    await running?.close();
    running = undefined;
  });
  const serve = async (options: Partial<HookOptions> = {}): Promise<void> => {
    running = await serveWebhooks({ client: cluster, namespace: 'demo', port, clock, ...options });
  };
  const shown = async (): Promise<string> => (await greeting(port)).fingerprint256;
  /** The next check is over when the server has read or written this often. */
  const check = async (): Promise<void> => {
    await clock.advance(CHECK_MS);
    await settle(200);
  };
  const isMerge = ({ verb, kind }: Request): boolean => verb === 'merge' && kind === configurationKind.kind;

  it('serves a certificate of another authority only after API servers trust it', async () => {
    await serve();
    const served: string[] = [];
    cluster.before = async (request) => {
      if (isMerge(request)) served.push(await shown());
    };
    cluster.edit(Secret, KEY, { data: dataOf(second) });
    await clock.advance(CHECK_MS);
    await eventually('the configuration is written', () => served.length > 0);
    await settle(200);
    expect(served).to.deep.equal([print(first)]);
    expect(await shown()).to.equal(print(second));
  });

  it('serves the old certificate until API servers have had time to trust the new one', async () => {
    await serve();
    cluster.fault = (request) => (isMerge(request) ? error(503, 'ServiceUnavailable') : undefined);
    cluster.edit(Secret, KEY, { data: dataOf(second) });
    await check();
    expect(cluster.requests.filter(isMerge)).to.have.length(1);
    expect(await shown()).to.equal(print(first));
    cluster.fault = () => undefined;
    await check();
    expect(await shown()).to.equal(print(second));
  });

  it('restores a deleted secret with the certificates in use', async () => {
    await serve();
    cluster.remove(Secret, KEY);
    await check();
    expect(cluster.read(Secret, KEY)?.data).to.deep.equal(dataOf(first));
    cluster.edit(Secret, KEY, { data: dataOf(second) });
    await check();
    cluster.remove(Secret, KEY);
    await check();
    expect(cluster.read(Secret, KEY)?.data, 'the later ones').to.deep.equal(dataOf(second));
  });

  it('stops listening if the configuration cannot be installed', async () => {
    cluster.fault = ({ verb }) => (verb === 'apply' ? error(403, 'Forbidden') : undefined);
    expect(await caught(serve())).to.have.property('name', 'Forbidden');
    cluster.fault = () => undefined;
    await serve();
    expect(await shown()).to.equal(print(first));
  });

  it('installs no configuration without the role that is to own it', async () => {
    expect(await caught(serve({ ownerRole: 'gone' }))).to.have.property('name', 'NotFound');
    expect(cluster.read(configurationKind, CONFIGURATION_NAME)).to.equal(undefined);
  });

  it('is owned by the role, and so are its certificates: Kubernetes deletes both after it', async () => {
    const { uid } = cluster.put(clusterRoleKind, { metadata: { name: 'ls' } }).metadata;
    await serve({ ownerRole: 'ls' });
    for (const [kind, key] of [
      [configurationKind, CONFIGURATION_NAME],
      [Secret, KEY],
    ] as const)
      expect(cluster.read<Obj>(kind, key)?.metadata.ownerReferences, kind.kind).to.deep.equal([
        { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'ls', uid },
      ]);
  });

  it('checks nothing after it was closed', async () => {
    await serve();
    await running?.close();
    running = undefined;
    const before = cluster.requests.length;
    await check();
    expect([clock.pending, cluster.requests.length - before]).to.deep.equal([0, 0]);
  });

  describe('stores its certificates', () => {
    const current = (inUse?: Certificates) =>
      currentCertificates(
        {
          client: cluster,
          clock,
          log: silentLogger,
          namespace: 'demo',
          secretName: CERTIFICATES_SECRET,
          commonName: 'landscaper-webhook',
          hosts: [HOST],
        },
        inUse,
      );
    const writes = () => cluster.writes.map((each) => each.split(' ')[0]);

    it('only in the version that was read, and uses those of a faster replica', async () => {
      cluster.edit(Secret, KEY, { data: { 'tls.crt': '' } });
      let isFirst = true;
      cluster.before = ({ verb }) => {
        if (verb === 'merge' && isFirst) cluster.edit(Secret, KEY, { data: dataOf(second) });
        isFirst &&= verb !== 'merge';
        return undefined;
      };
      expect(await current()).to.deep.equal(second);
      expect(writes()).to.deep.equal(['merge']);
    });

    it('in a new secret if that was deleted meanwhile', async () => {
      cluster.edit(Secret, KEY, { data: { 'tls.crt': '' } });
      cluster.before = ({ verb }) => {
        if (verb === 'merge') cluster.remove(Secret, KEY);
        return undefined;
      };
      await current(first);
      expect(writes()).to.deep.equal(['merge', 'create']);
      expect(cluster.read(Secret, KEY)?.data).to.deep.equal(dataOf(first));
    });

    for (const [title, refusal, attempts] of [
      ['with ten attempts if other replicas are always faster', error(409, 'AlreadyExists'), 10],
      ['with one attempt if it has no rights', error(403, 'Forbidden'), 1],
      ['with one attempt if the namespace is gone', error(404, 'NotFound'), 1],
    ] as const)
      it(title, async () => {
        cluster.remove(Secret, KEY);
        cluster.fault = ({ verb }) => (verb === 'create' ? refusal : undefined);
        expect(await caught(current(first))).to.equal(refusal);
        expect(writes()).to.have.length(attempts);
      });
  });
});

describe('the configuration of the webhooks', () => {
  const endpoint = { url: new URL('https://127.0.0.1:9443') };
  const owner = { apiVersion: 'v1', kind: 'ClusterRole', name: 'r', uid: 'u' };
  const wanted = webhookConfiguration(endpoint, ['installations'], 'pem', { owner });
  let cluster: FakeCluster;
  beforeEach(() => {
    cluster = new FakeCluster();
  });
  const stored = (more: object = {}) =>
    cluster.put(configurationKind, { ...wanted, metadata: { name: CONFIGURATION_NAME }, ...more });
  const install = () => installConfiguration(cluster, wanted);
  const verbs = () => cluster.requests.map(({ verb }) => verb);
  const refuse = (verb: string, refusal: Error) => {
    cluster.fault = (request) => (request.verb === verb ? refusal : undefined);
  };

  it('is updated if it still has the selector of an earlier version, and not if the server adds fields', async () => {
    const earlier = webhookConfiguration(endpoint, ['installations'], 'pem', { owner, skipping: 'all' });
    cluster.put(configurationKind, earlier);
    expect([await install(), await install()]).to.deep.equal([true, false]);
    const [hook] = cluster.read(configurationKind, CONFIGURATION_NAME)?.webhooks ?? [];
    expect(hook).to.have.property('objectSelector').that.deep.equals({});
    const webhooks = [{ ...hook, matchPolicy: 'Equivalent', namespaceSelector: {} }];
    cluster.edit(configurationKind, CONFIGURATION_NAME, { webhooks });
    expect(await install()).to.equal(false);
  });

  it('is created, and not written again', async () => {
    expect([await install(), await install()]).to.deep.equal([true, false]);
    expect(verbs()).to.deep.equal(['get', 'apply', 'get']);
  });

  for (const [title, more] of [
    ['its webhooks differ', { metadata: wanted.metadata, webhooks: [] }],
    [
      'it has a webhook for a kind that is no longer validated',
      { metadata: wanted.metadata, webhooks: [...(wanted.webhooks ?? []), { name: 'more' }] },
    ],
    ['its owner is missing', {}],
  ] as const)
    it(`is updated if ${title}, only in the version that was read`, async () => {
      const before = stored(more);
      expect(await install()).to.equal(true);
      const { body } = cluster.requests.at(-1) as { body: { metadata: object } };
      expect(body.metadata).to.deep.include({ resourceVersion: before.metadata.resourceVersion });
      expect(await install()).to.equal(false);
    });

  it('is compared again if it was changed meanwhile', async () => {
    stored();
    let isFirst = true;
    cluster.before = ({ verb }) => {
      if (verb === 'merge' && isFirst)
        cluster.edit(configurationKind, CONFIGURATION_NAME, { metadata: { labels: { a: 'b' } } });
      isFirst &&= verb !== 'merge';
      return undefined;
    };
    expect(await install()).to.equal(true);
    expect(verbs()).to.deep.equal(['get', 'merge', 'get', 'merge']);
  });

  it('is created if it was deleted meanwhile', async () => {
    stored();
    cluster.before = ({ verb }) => {
      if (verb === 'merge') cluster.remove(configurationKind, CONFIGURATION_NAME);
      return undefined;
    };
    expect(await install()).to.equal(true);
    expect(verbs()).to.deep.equal(['get', 'merge', 'get', 'apply']);
  });

  for (const [title, verb, code, reason, attempts] of [
    ['is given up after ten attempts against others that create it', 'apply', 409, 'Conflict', 10],
    ['is given up after ten attempts against others that change it', 'merge', 409, 'Conflict', 10],
    ['is not retried without rights', 'apply', 403, 'Forbidden', 1],
    ['is not retried if the API has no such kind', 'apply', 404, 'NotFound', 1],
  ] as const)
    it(title, async () => {
      if (verb === 'merge') stored();
      const refusal = error(code, reason);
      refuse(verb, refusal);
      expect(await caught(install())).to.equal(refusal);
      expect(verbs().filter((each) => each === verb)).to.have.length(attempts);
    });

  it('is deleted once, and its absence is not an error, other than a refusal', async () => {
    stored();
    expect([await removeConfiguration(cluster), await removeConfiguration(cluster)]).to.deep.equal([
      true,
      false,
    ]);
    const refusal = error(403, 'Forbidden');
    refuse('delete', refusal);
    expect(await caught(removeConfiguration(cluster))).to.equal(refusal);
  });
});

describe('the secret with the certificates', () => {
  const KEY = 'ls-system/certs';
  const owner = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'r', uid: 'u2' };
  const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'r', uid: 'x' };
  let cluster: FakeCluster;
  const givenOwners = (...ownerReferences: readonly object[]) => {
    cluster = new FakeCluster();
    return cluster.put(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'certs', namespace: 'ls-system', ownerReferences },
    } as never);
  };
  const owners = async () => (await cluster.get(Secret, KEY)).metadata.ownerReferences;

  it('gets the owner once, besides those of others, in place of a role that was created again', async () => {
    const another = { ...owner, name: 'another', uid: 'u3' };
    const { resourceVersion } = givenOwners(other, another, { ...owner, uid: 'u1' }).metadata;
    await ownSecret(cluster, KEY, owner);
    expect(await owners()).to.deep.equal([other, another, owner]);
    const write = cluster.requests.find(({ verb }) => verb === 'merge');
    expect((write?.body as Obj).metadata).to.include({ resourceVersion });
    cluster.requests.length = 0;
    await ownSecret(cluster, KEY, owner);
    expect(cluster.requests.map(({ verb }) => verb)).to.deep.equal(['get']);
  });

  it('is left for the next check if it does not exist, or changes or disappears meanwhile', async () => {
    cluster = new FakeCluster();
    await ownSecret(cluster, KEY, owner);
    for (const refusal of [error(409, 'Conflict'), error(404, 'NotFound')]) {
      givenOwners();
      cluster.fault = ({ verb }) => (verb === 'merge' ? refusal : undefined);
      await ownSecret(cluster, KEY, owner);
    }
  });

  it('reports other errors', async () => {
    givenOwners();
    const refusal = error(403, 'Forbidden');
    cluster.fault = ({ verb }) => (verb === 'merge' ? refusal : undefined);
    expect(await caught(ownSecret(cluster, KEY, owner))).to.equal(refusal);
  });
});
