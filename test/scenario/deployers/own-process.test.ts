/** A deployer that is a program of its own: what it is configured with, what it serves, and what it leaves behind. */
import { hostname } from 'node:os';
import { expect } from 'chai';
import { passthrough } from '../../../deployers/sdk/codec.ts';
import { connectorOf } from '../../../deployers/sdk/controller.ts';
import {
  done,
  startDeployer,
  type DeployContext,
  type DeployerPlugin,
  type DeployerProcess,
} from '../../../deployers/sdk/index.ts';
import type { DeployerProcessOptions } from '../../../deployers/sdk/process.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { ResponseTooLarge } from '../../../src/runtime/errors.ts';
import { configMapKind } from '../../../src/landscape/world.ts';
import { leaseKind } from '../../../src/runtime/manager/lease.ts';
import { createResponses } from '../../../src/runtime/transport/responses.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import type { Scene } from '../../support/scene.ts';

const TYPE = 'example.org/own-process';

describe('a deployer in a process of its own', function () {
  this.timeout(30_000);
  let cluster: Cluster;
  let scene: Scene;
  let deployer: DeployerProcess | undefined;
  let apply: (ctx: DeployContext) => Promise<void>;
  const plugin: DeployerPlugin = {
    type: TYPE,
    name: 'own-process.example.org',
    version: '1',
    config: passthrough,
    async apply(ctx) {
      await apply(ctx);
      return done();
    },
    remove: () => Promise.resolve(done()),
  };
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());
  beforeEach(async () => {
    scene = await cluster.scene();
    apply = () => Promise.resolve();
  });
  afterEach(async () => {
    await deployer?.stop();
    deployer = undefined;
  });

  async function start(options: Partial<DeployerProcessOptions> = {}): Promise<DeployerProcess> {
    deployer = await startDeployer(plugin, { kubeconfig: { text: cluster.kubeconfig }, ...options });
    return deployer;
  }

  async function give(name: string, target?: string): Promise<void> {
    const object: DeployItem = {
      apiVersion: API_VERSION,
      kind: 'DeployItem',
      metadata: { name, namespace: scene.ns },
      spec: {
        type: TYPE,
        config: { apiVersion: 'example.org/v1', kind: 'Config' },
        ...(target && { target: { name: target, namespace: scene.ns } }),
      },
    };
    await cluster.client.send({ verb: 'create', kind: deployItemKind, object });
    await cluster.client.send({
      verb: 'merge',
      kind: deployItemKind,
      key: `${scene.ns}/${name}`,
      sub: 'status',
      body: { status: { observedGeneration: 0, jobID: 'j1' } },
    });
  }
  const finished = (name: string) =>
    scene.until(`${name} is finished`, () => {
      const item = cluster.world.deployItems.get(`${scene.ns}/${name}`);
      return item?.status?.jobIDFinished === 'j1' && item.status;
    });

  it('works on items, with its identity, and serves probes and metrics until it stops', async () => {
    const { health = '', stop } = await start({
      identity: 'me',
      metricsAddress: { host: '127.0.0.1', port: 0 },
    });
    await give('one');
    expect((await finished('one')).deployer).to.deep.equal({
      identity: 'me',
      name: 'own-process.example.org',
      version: '1',
    });
    for (const probe of ['healthz', 'readyz'])
      expect((await fetch(`${health}/${probe}`)).status).to.equal(200);
    const verbose = await (await fetch(`${health}/readyz?verbose`)).text();
    expect(verbose).to.contain('[+]sources ok');
    const metrics = await (await fetch(`${health}/metrics`)).text();
    expect(metrics)
      .to.match(/deployer="own-process.example.org"/)
      .and.contain('process_cpu_seconds_total')
      .and.contain('workqueue');
    await stop();
    expect(await fetch(`${health}/healthz`).catch(() => 'closed')).to.equal('closed');
  });

  it('needs no more than a cluster, and is called by its name and the time then', async () => {
    expect((await start()).health).to.equal(undefined);
    await give('one');
    expect((await finished('one')).deployer?.identity).to.match(
      /^own-process\.example\.org-\d{10}-[a-z0-9]{5}$/,
    );
  });

  it('follows its settings', async () => {
    await start({ settings: { claimUntargeted: false } });
    await cluster.client.send({
      verb: 'create',
      kind: targetKind,
      object: {
        apiVersion: API_VERSION,
        kind: 'Target',
        metadata: { name: 'a', namespace: scene.ns },
        spec: { type: 'x/y', config: {} },
      },
    });
    await give('without');
    await give('with', 'a');
    await finished('with');
    expect(cluster.world.deployItems.get(`${scene.ns}/without`)?.status?.phase).to.equal(undefined);
  });

  it('shares items by Leases of the name that it was given, and leaves when it stops', async () => {
    const holders = async (): Promise<Record<string, string>> => {
      const found: Record<string, string> = {};
      for await (const page of cluster.client.list(leaseKind, { namespace: scene.ns }))
        for (const { metadata, spec } of page.items) found[metadata.name] = spec?.holderIdentity ?? '';
      return found;
    };
    await start({ lease: { namespace: scene.ns, name: 'sharing' } });
    await give('one');
    await finished('one');
    const held = await holders();
    const names = Object.keys(held);
    const [member = ''] = names.filter((name) => name.startsWith('sharing-member-'));
    expect(held[member]).to.match(new RegExp(`^${hostname()}-${String(process.pid)}`));
    for (const name of names) expect(name).to.match(/^sharing/);
    await deployer?.stop();
    deployer = undefined;
    expect((await holders())[member]).to.equal('');
  });

  it('reaches a target by its kubeconfig, under a name by which servers know it', async () => {
    await cluster.client.send({
      verb: 'create',
      kind: targetKind,
      object: {
        apiVersion: API_VERSION,
        kind: 'Target',
        metadata: { name: 'a', namespace: scene.ns },
        spec: { type: `${GROUP}/kubernetes-cluster`, config: { kubeconfig: cluster.kubeconfig } },
      },
    });
    const key = `${scene.ns}/made`;
    apply = async ({ target }) => {
      const access = await target?.kube();
      const kind = await access?.kindOf('v1', 'ConfigMap');
      if (!access || !kind) throw new Error('no access');
      const metadata = { name: 'made', namespace: scene.ns };
      await access.client.send({
        verb: 'create',
        kind,
        object: { apiVersion: 'v1', kind: 'ConfigMap', metadata },
      });
    };
    await start();
    await give('one', 'a');
    await finished('one');
    expect((await cluster.client.get(configMapKind, key)).metadata.name).to.equal('made');
    // Only the embedded server lets a test read its audit log.
    if (!cluster.server) return;
    const agents = cluster.server.audit
      .since(0)
      .events.filter(({ objectRef, verb }) => objectRef?.name === 'made' && verb === 'create')
      .map(({ userAgent }) => userAgent);
    expect(agents).to.deep.equal(['espalier-deployer']);
  });

  it('closes what it opened when it cannot start', async () => {
    const taken = await start({ metricsAddress: { host: '127.0.0.1', port: 0 } });
    const { port } = new URL(taken.health ?? '');
    const second = await startDeployer(plugin, {
      kubeconfig: { text: cluster.kubeconfig },
      metricsAddress: { host: '127.0.0.1', port: Number(port) },
    }).catch((error: unknown) => error);
    expect(second).to.have.property('message').that.contains('the port is in use');
  });

  it('accepts answers of targets only up to the size that it was given', async () => {
    const { target } = createResponses({ targetResponseMiB: 1 });
    const of = (responses?: typeof target) =>
      connectorOf({ clock, log, rng: seededRng(1), ...(responses && { responses }) })(cluster.kubeconfig);
    const data = { lines: '\n'.repeat(700_000) }; // each of them is two bytes of JSON
    const key = `${scene.ns}/large`;
    await cluster.client.send({
      verb: 'create',
      kind: configMapKind,
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large', namespace: scene.ns }, data },
    });
    const [strict, usual] = [await of(target), await of()];
    const refused = await strict.client.get(configMapKind, key).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ResponseTooLarge);
    expect((await usual.client.get(configMapKind, key)).metadata.name).to.equal('large');
    await strict.close();
    await usual.close();
    const closed = await usual.client.get(configMapKind, key).catch((error: unknown) => error);
    expect(closed).to.be.instanceOf(Error);
  });
});
