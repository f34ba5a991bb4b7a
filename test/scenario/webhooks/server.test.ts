/**
 * The webhook server in a cluster: the objects it creates, how replicas share certificates, and what happens without
 * it.
 */
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import type { ValidatedResource } from '../../../src/api/validation/index.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { CHECK_MS } from '../../../src/runtime/webhooks/checking.ts';
import type { Webhooks } from '../../../src/webhooks/index.ts';
import { Secret } from '../../../src/runtime/core-kinds.ts';
import { freePort } from '../../support/ports.ts';
import { target } from '../../support/broken.ts';
import { FakeClock } from '../../support/clock.ts';
import { isRealServer, useCluster } from '../../support/cluster.ts';
import { fakeItem, lonelyItem, plan, web, RECONCILE } from '../../support/landscape.ts';
import { NotFound } from '../../../src/runtime/errors.ts';
import { clusterRoleKind } from '../../../src/webhooks/configuration.ts';
import type { Scene } from '../../support/scene.ts';
import { skip } from '../../support/skip.ts';
import {
  ask,
  certificatesIn,
  configurationIn,
  forgetWebhooks,
  greeting,
  keptConnection,
  objection,
  secretIn,
  serveWebhooks,
  type HookOptions,
} from '../../support/webhooks.ts';
import { eventually } from '../../support/waiting.ts';

const DAY_MS = 86_400_000;

/** A clock that is behind by this much and catches up in one step, because TLS uses the real time. */
function inThePast(ms: number) {
  const fake = new FakeClock(new Date().toISOString());
  let behind = ms;
  const clock: Clock = {
    now: () => fake.now(),
    wall: () => fake.wall() - behind,
    at: (when, fn) => fake.at(when, fn),
  };
  const leap = (): void => {
    behind = 0;
  };
  return { clock, leap, advance: (by: number) => fake.advance(by) };
}

describe('the webhook server', () => {
  const running: Webhooks[] = [];
  // Before the cluster is stopped.
  after(() => forgetWebhooks(here.cluster.client));
  afterEach(async () => {
    for (const webhooks of running.splice(0)) await webhooks.close();
  });
  const here = useCluster({ deployers: [] });

  let scene: Scene;
  let port: number;
  beforeEach(async () => {
    scene = await here.scene();
    port = await freePort();
    await forgetWebhooks(here.cluster.client);
  });

  const serve = async (options: Partial<HookOptions> = {}): Promise<Webhooks> => {
    const { client } = here.cluster;
    const webhooks = await serveWebhooks({ client, namespace: scene.ns, port, ...options });
    running.push(webhooks);
    return webhooks;
  };
  const stop = (webhooks: Webhooks): Promise<void> => {
    running.splice(running.indexOf(webhooks), 1);
    return webhooks.close();
  };

  const both = (name = 'both'): object => ({
    ...target(name, { config: 1, secretRef: { name: 's' } }),
    metadata: { name, namespace: scene.ns },
  });
  const refusal = (resource: ValidatedResource, object: object) =>
    objection(here.cluster.client, resource, object as never);
  const isRefused = async (): Promise<boolean> =>
    (await refusal('targets', both()))?.message.includes('denied the request') ?? false;
  const hooksIn = async () =>
    ((await configurationIn(here.cluster.client))?.webhooks ?? []) as {
      name: string;
      clientConfig: { caBundle: string };
    }[];
  const bundle = async (): Promise<string> =>
    Buffer.from((await hooksIn())[0]?.clientConfig.caBundle ?? '', 'base64').toString();
  const entry = async (key: string): Promise<string> =>
    Buffer.from((await secretIn(here.cluster.client, scene.ns))?.data?.[key] ?? '', 'base64').toString();

  it('registers itself with the API server as upstream does, if the label has an effect for all', async () => {
    await serve({ skipping: 'all' });
    const configuration = await configurationIn(here.cluster.client);
    expect(configuration?.metadata.name).to.equal('landscaper-validation-webhook');
    const hooks = (configuration?.webhooks ?? []) as Record<string, unknown>[];
    const resources = ['installations', 'deployitems', 'executions', 'targets'];
    expect(hooks.map((hook) => hook['name'])).to.deep.equal(
      resources.map((resource) => `${resource}.validation.landscaper.gardener.cloud`),
    );
    for (const [i, hook] of hooks.entries()) {
      expect(hook).to.deep.include({
        failurePolicy: 'Fail',
        sideEffects: 'None',
        timeoutSeconds: 15,
        admissionReviewVersions: ['v1'],
      });
      expect(hook['objectSelector']).to.deep.equal({
        matchExpressions: [
          {
            key: 'validation.landscaper.gardener.cloud/skip-validation',
            operator: 'NotIn',
            values: ['true'],
          },
        ],
      });
      expect((hook['rules'] as object[])[0]).to.deep.include({
        apiGroups: ['landscaper.gardener.cloud'],
        apiVersions: ['v1alpha1'],
        resources: [resources[i]],
        operations: ['CREATE', 'UPDATE'],
      });
      expect((hook['clientConfig'] as { url: string }).url).to.equal(
        `https://127.0.0.1:${port}/webhook/validate/${resources[i] ?? ''}`,
      );
    }
  });

  it('keeps certificates in one secret and reuses them', async () => {
    const first = await serve();
    const secret = await secretIn(here.cluster.client, scene.ns);
    expect(Object.keys(secret?.data ?? {}).sort()).to.deep.equal(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    const before = await greeting(port);
    expect(before.verify(new X509Certificate(await entry('ca.crt')).publicKey)).to.equal(true);
    await stop(first);
    await serve();
    expect((await greeting(port)).fingerprint256).to.equal(before.fingerprint256);
  });

  it('agrees with other replicas that start at the same time', async () => {
    const ports = [port, await freePort(), await freePort(), await freePort()];
    await Promise.all(ports.map((each) => serve({ port: each })));
    const shown = await Promise.all(ports.map(greeting));
    expect(new Set(shown.map((certificate) => certificate.fingerprint256)).size).to.equal(1);
    expect(await bundle()).to.equal(await entry('ca.crt'));
  });

  it('does not touch the configuration on request', async () => {
    await serve({ install: false });
    expect(await configurationIn(here.cluster.client)).to.equal(undefined);
    expect((await greeting(port)).checkIP('127.0.0.1')).to.equal('127.0.0.1');
  });

  it('does not validate kinds that are disabled', async () => {
    await stop(await serve());
    await serve({ resources: ['executions', 'deployitems'] });
    await eventually('targets are not validated', async () => !(await isRefused()));
    expect((await hooksIn()).map(({ name }) => name.split('.')[0])).to.deep.equal([
      'executions',
      'deployitems',
    ]);
    const cyclic = plan([fakeItem('a', { dependsOn: ['a'] })]);
    const placed = { ...cyclic, metadata: { name: 'plan', namespace: scene.ns } };
    await eventually('executions are validated', () => refusal('executions', placed));
  });

  it('deletes the configuration if everything is disabled', async () => {
    await stop(await serve());
    await serve({ resources: [] });
    expect(await configurationIn(here.cluster.client)).to.equal(undefined);
    await eventually('nothing is validated', async () => !(await isRefused()));
  });

  it('restores the configuration, and a secret that was deleted', async () => {
    const clock = new FakeClock(new Date().toISOString());
    await serve({ clock });
    const shown = await greeting(port);
    const { client } = here.cluster;
    await forgetWebhooks(client);
    await client.send({ verb: 'delete', kind: Secret, key: `${scene.ns}/landscaper-webhook-certs` });
    await eventually('both are there again', async () => {
      await clock.advance(CHECK_MS);
      return (await configurationIn(client)) && (await secretIn(client, scene.ns));
    });
    expect(new X509Certificate(await entry('tls.crt')).fingerprint256).to.equal(shown.fingerprint256);
  });

  it('makes a ClusterRole the owner of the configuration, also of one that exists', async () => {
    const { client } = here.cluster;
    const name = `${scene.ns}-owner`;
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name } };
    await client.send({ verb: 'create', kind: clusterRoleKind, object: role });
    await stop(await serve());
    expect((await configurationIn(client))?.metadata.ownerReferences).to.equal(undefined);
    await stop(await serve({ ownerRole: name }));
    const { uid = '' } = (await client.get(clusterRoleKind, name)).metadata;
    const { kind, apiVersion } = role;
    const owners = [{ apiVersion, kind, name, uid }];
    expect((await configurationIn(client))?.metadata.ownerReferences).to.deep.equal(owners);
    await client.send({ verb: 'delete', kind: clusterRoleKind, key: name });
    if (!isRealServer())
      // no kube-controller-manager, which collects garbage
      await eventually('the configuration is deleted', async () => !(await configurationIn(client)));
    const error = await serve({ ownerRole: name }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(NotFound);
  });

  it('issues a new certificate for a new name, from the same authority', async () => {
    await stop(await serve());
    const before = await entry('ca.crt');
    await serve({ hostname: 'localhost' });
    expect((await greeting(port)).checkHost('localhost')).to.equal('localhost');
    expect(await entry('ca.crt')).to.equal(before);
    await eventually('the API server accepts it', isRefused);
  });

  it('is reached through a Service', async function () {
    if (!isRealServer()) skip(this, 'the embedded server has no network of Services');
    const { client } = here.cluster;
    const object = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'hooks' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    };
    await client.raw('POST', `/api/v1/namespaces/${scene.ns}/services`, object);
    await serve({ endpoint: { service: { namespace: scene.ns, name: 'hooks', port } } });
    expect((await greeting(port)).checkHost(`hooks.${scene.ns}.svc`)).to.be.a('string');
    await eventually('the API server asks', isRefused);
  });

  it('changes its certificate while it runs, long before the old one expires', async () => {
    const time = inThePast(300 * DAY_MS);
    await serve({ clock: time.clock });
    const old = await greeting(port);
    const trusted = await bundle();
    await eventually('the API server accepts the old one', isRefused);

    time.leap();
    const young = await eventually('another certificate', async () => {
      await time.advance(CHECK_MS);
      const shown = await greeting(port);
      return shown.fingerprint256 !== old.fingerprint256 && shown;
    });
    expect(Date.parse(old.validTo)).to.be.greaterThan(time.clock.wall());
    expect(Date.parse(young.validTo)).to.be.greaterThan(Date.parse(old.validTo));
    expect(await bundle()).to.equal(trusted);
    expect(young.verify(new X509Certificate(trusted).publicKey)).to.equal(true);
    await eventually('the API server accepts the new one', isRefused);
  });

  it('changes its authority while it runs, and is trusted all the time', async () => {
    const time = inThePast(7 * 365 * DAY_MS);
    const webhooks = await serve({ clock: time.clock });
    const [oldAuthority] = certificatesIn(await bundle());
    time.leap();
    await eventually('another authority besides the old one', async () => {
      await time.advance(CHECK_MS);
      return certificatesIn(await bundle()).length === 2;
    });
    const bothOfThem = certificatesIn(await bundle());
    expect(bothOfThem[1]?.fingerprint256).to.equal(oldAuthority?.fingerprint256);
    await eventually('the API server trusts what the old one signed', isRefused);

    // The next certificate is issued by the new authority; a new name requests one at once.
    await stop(webhooks);
    await serve({ hostname: 'localhost' });
    const shown = await greeting(port);
    expect(shown.checkIssued(bothOfThem[0] as X509Certificate)).to.equal(true);
    expect(shown.verify((bothOfThem[0] as X509Certificate).publicKey)).to.equal(true);
    await eventually('the API server trusts what the new one signed', isRefused);
  });

  it('answers probes, and rejects invalid requests', async () => {
    await serve();
    const ca = await entry('ca.crt');
    expect(await ask(port, ca, 'GET', '/healthz')).to.deep.equal({ code: 200, text: 'Ok' });
    const path = '/webhook/validate/targets';
    expect((await ask(port, ca, 'POST', path, '{}')).code).to.equal(400);
    expect((await ask(port, ca, 'POST', path, 'no json')).code).to.equal(400);
    expect((await ask(port, ca, 'POST', '/webhook/validate/contexts', '{}')).code).to.equal(404);
  });

  it('answers for some time while it stops, and closes each connection with a response', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const webhooks = await serve({ clock, drainMs: 5_000 });
    const connection = keptConnection(port, await entry('ca.crt'));
    try {
      expect(await connection.ask()).to.deep.equal({ code: 200, isClosing: false });
      const stopped = stop(webhooks);
      await eventually('a closed connection', async () => (await connection.ask()).isClosing);
      await clock.advance(4_999);
      expect(await connection.ask()).to.deep.equal({ code: 200, isClosing: true });
      await clock.advance(1);
      await stopped;
      const error = await connection.ask().catch((reason: unknown) => reason as NodeJS.ErrnoException);
      expect(error).to.have.property('code', 'ECONNREFUSED');
    } finally {
      connection.close();
    }
  });

  it('CORE-26: while it is down, writes wait with ERR_WEBHOOK, and continue by themselves when it is back', async () => {
    const webhooks = await serve({ skipping: 'all' });
    await eventually('the webhooks are asked', isRefused);
    await stop(webhooks);
    // The user made sure that the installation itself can be written; the objects it creates have to be validated.
    const root = web();
    const spared = { [labels.skipValidation]: 'true' };
    await scene.create({ ...root, metadata: { ...root.metadata, labels: spared, annotations: RECONCILE } });
    const { status } = await scene.busy('web', 'Init', 'WriteExecution');
    expect(status?.lastError?.codes).to.include('ERR_WEBHOOK');
    expect(status?.lastError?.message).to.contain('executions.validation.landscaper.gardener.cloud');

    await serve();
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('CORE-119: a tree with the longest name passes all validation, at creation and deletion', async () => {
    await serve();
    await eventually('the webhooks are asked', isRefused);
    const name = 'n'.repeat(58);
    const root = web();
    await scene.create({ ...root, metadata: { ...root.metadata, name } });
    await scene.answer(name, 'app');
    await scene.finished(name, 'Succeeded');
    await scene.delete(name);
    await scene.uninstall(name, 'app');
    await scene.empty();
    await scene.create(lonelyItem());
  });
});
