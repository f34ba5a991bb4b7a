/** Traces of landscapes, as a collector receives them. */
import { expect } from 'chai';
import { done, passthrough, startDeployer } from '../../../deployers/sdk/index.ts';
import { GROUP, annotations } from '../../../src/api/labels.ts';
import type { DeployItemTemplate } from '../../../src/api/kinds/execution.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { spanIdOf } from '../../../src/observability/tracing/ids.ts';
import { startCollector, type Collector, type ReceivedSpan } from '../../support/collector.ts';
import { startCluster, startControllers, type Cluster, type Controllers } from '../../support/cluster.ts';
import { child, fakeItem, mockItem, root, target } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { eventually } from '../../support/waiting.ts';

const configMapItem = (namespace: string): DeployItemTemplate =>
  ({
    name: 'map',
    type: `${GROUP}/kubernetes-manifest`,
    target: { import: 'cluster' },
    config: {
      apiVersion: `manifest.deployer.${GROUP}/v1alpha2`,
      kind: 'ProviderConfiguration',
      updateStrategy: 'update',
      manifests: [
        {
          policy: 'manage',
          manifest: {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 'installed', namespace },
            stringData: { password: 'hunter2' },
          },
        },
      ],
    },
  }) as unknown as DeployItemTemplate;

/** The spans of a job by name, with a check that they are one tree whose ids are unique. */
function treeOf(collector: Collector, jobID: string): ReadonlyMap<string, readonly ReceivedSpan[]> {
  const spans = collector.spans.filter(({ traceId }) => traceId === jobID.replaceAll('-', ''));
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const tops = spans.filter(({ parentSpanId }) => parentSpanId === '');
  expect(tops, 'spans without a parent').to.have.length(1);
  for (const { name, parentSpanId } of spans) {
    if (parentSpanId !== '')
      expect(ids.has(parentSpanId), `the parent of ${name} was received`).to.equal(true);
  }
  const names = [...new Set(spans.map(({ name }) => name))];
  return new Map(names.map((name) => [name, spans.filter((span) => span.name === name)]));
}

const only = (tree: ReadonlyMap<string, readonly ReceivedSpan[]>, name: string): ReceivedSpan => {
  const [span, ...others] = tree.get(name) ?? [];
  expect(others, `more spans named ${name}`).to.deep.equal([]);
  if (!span) throw new Error(`no span ${name}; there are ${[...tree.keys()].join(', ')}`);
  return span;
};

const jobOf = (scene: Scene, name: string): string => scene.installation(name)?.status?.jobID ?? '';

function hostOf(kubeconfig: string): string {
  const { clusters } = parseYaml(kubeconfig) as { clusters: { cluster: { server: string } }[] };
  return new URL(clusters[0]?.cluster.server ?? '').hostname;
}

describe('traces of landscapes', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  let collector: Collector;
  before(async () => {
    cluster = await startCluster();
    collector = await startCollector();
  });
  after(async () => {
    await cluster.stop();
    await collector.close();
  });
  const start = (deployers = ['mock', 'manifest']) =>
    startControllers(cluster, {
      deployers,
      more: { tracing: { enabled: true, endpoint: collector.url } },
    });

  it('are one tree from the root to the requests to the target', async () => {
    const controllers = await start();
    const scene = await cluster.scene();
    await scene.create(target('cluster', 'kubernetes-cluster', { kubeconfig: cluster.kubeconfig }));
    await scene.create(
      root('web', {
        items: [configMapItem(scene.ns), mockItem('done')],
        children: [child('below', { items: [mockItem('deep')] })],
        more: { imports: [{ name: 'cluster', type: 'target', targetType: `${GROUP}/kubernetes-cluster` }] },
        spec: { imports: { targets: [{ name: 'cluster', target: 'cluster' }] } },
      }),
    );
    await scene.finished('web', 'Succeeded');
    await controllers.stop();

    const jobID = jobOf(scene, 'web');
    const tree = treeOf(collector, jobID);
    const web = only(tree, 'Installation web');
    const below = only(tree, 'Installation below');
    const item = only(tree, 'DeployItem map');
    const [first, second] = tree.get('Execution') ?? [];
    expect(web.parentSpanId).to.equal('');
    expect(below.parentSpanId).to.equal(web.spanId);
    expect([first?.parentSpanId, second?.parentSpanId]).to.have.members([web.spanId, below.spanId]);
    expect(web.spanId).to.equal(spanIdOf(jobID, { kind: 'Installation', namespace: scene.ns, name: 'web' }));
    expect(web.attributes).to.include({
      'k8s.namespace.name': scene.ns,
      'k8s.object.kind': 'Installation',
      'k8s.object.name': 'web',
      'espalier.job.id': jobID,
      'espalier.job.operation': 'apply',
      'espalier.phase': 'Succeeded',
      'espalier.tree': `${scene.ns}/web`,
    });
    expect(web.events).to.include.members(['phase Init', 'phase Succeeded']);
    expect(item.attributes).to.include({ 'espalier.deployitem.target': 'cluster' });
    expect(web.error).to.equal(undefined);
    // The first reconcile starts the job: it belongs to the trace although the id did not exist when it began.
    expect(
      tree.get('reconcile installation')?.some(({ parentSpanId }) => parentSpanId === web.spanId),
    ).to.equal(true);
    expect(tree.get('template render')?.length).to.be.greaterThan(1);

    const requests = [...tree.values()].flat().filter(({ kind }) => kind === 3);
    const created = requests.find(({ name }) => name === 'POST Secret');
    expect(created?.attributes).to.include({
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'server.address': hostOf(cluster.kubeconfig),
      'url.path': `/api/v1/namespaces/${scene.ns}/secrets`,
    });
    const reconcile = [...tree.values()].flat().find(({ spanId }) => spanId === created?.parentSpanId);
    expect(reconcile?.name).to.equal(`reconcile manifest.deployer.${GROUP}`);
    expect(reconcile?.parentSpanId).to.equal(item.spanId);
    const everything = JSON.stringify(collector.spans.map(({ attributes, error }) => [attributes, error]));
    expect(everything).not.to.include('hunter2');
    expect(collector.requests[0]).to.include({ path: '/v1/traces', type: 'application/x-protobuf' });
    expect(collector.resources[0]).to.include({ 'service.name': 'espalier' });
    for (const span of [web, below, item]) expect(span.end >= span.start).to.equal(true);
  });

  it('stay one tree across a restart, with a failed item', async () => {
    const before = await start();
    const scene = await cluster.scene();
    await scene.create(
      root('web', {
        items: [fakeItem('early'), fakeItem('late'), fakeItem('broken')],
        children: [child('below', { items: [mockItem('deep')] })],
      }),
    );
    await scene.answer('web', 'early');
    await scene.until('the sub-installation ends', () => scene.child('web', 'below')?.status?.jobIDFinished);
    await before.stop();
    // A deployer of another program ends an item while no controller runs.
    await scene.answer('web', 'late');
    const after = await start();
    await scene.answer('web', 'broken', 'Failed', {
      lastError: {
        operation: 'o',
        reason: 'NoSpace',
        message: 'the disk is full',
        codes: ['ERR_CONFIGURATION_PROBLEM'],
        lastTransitionTime: '2026-01-01T00:00:00Z',
        lastUpdateTime: '2026-01-01T00:00:00Z',
      },
    });
    await scene.finished('web', 'Failed');
    await after.stop();

    const tree = treeOf(collector, jobOf(scene, 'web'));
    const broken = only(tree, 'DeployItem broken');
    expect(broken.error).to.equal('the disk is full');
    expect(broken.attributes).to.include({ 'error.type': 'NoSpace', 'espalier.phase': 'Failed' });
    expect(broken.attributes['espalier.error.codes']).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    const web = only(tree, 'Installation web');
    expect(web.error).to.contain('failed');
    only(tree, 'DeployItem late');
    expect(tree.get('wait NotPickedUp')?.length).to.be.greaterThan(0);
    // Both processes may report what ended before the restart, with the same id.
    const ids = (name: string) => new Set((tree.get(name) ?? []).map(({ spanId }) => spanId));
    for (const name of ['DeployItem early', 'DeployItem deep', 'Installation below'])
      expect(ids(name).size, name).to.equal(1);
    const executions = new Set((tree.get('Execution') ?? []).map(({ spanId }) => spanId));
    expect(executions.size).to.equal(2);
    for (const name of ['DeployItem early', 'DeployItem late', 'DeployItem broken'])
      expect(executions.has(tree.get(name)?.[0]?.parentSpanId ?? ''), name).to.equal(true);
  });

  it('contain the deletion of a landscape', async () => {
    const controllers = await start();
    const scene = await cluster.scene();
    await scene.create(root('web', { items: [mockItem('a')] }));
    const created = await scene.finished('web', 'Succeeded');
    await scene.delete('web');
    await scene.empty();
    const first = created.status?.jobID ?? '';
    const ofDeletion = (): ReceivedSpan | undefined =>
      collector.spans.find(
        ({ name, attributes }) =>
          name === 'Installation web' &&
          attributes['k8s.namespace.name'] === scene.ns &&
          attributes['espalier.job.id'] !== first,
      );
    // The controllers' own watch may be behind that of the test.
    const deletion = await eventually('the span of the deletion arrives', () => {
      cluster.clock.advance(5_000);
      return ofDeletion();
    });
    await controllers.stop();
    expect(deletion.attributes).to.include({
      'espalier.job.operation': 'delete',
      'espalier.phase': 'Deleted',
    });
    const tree = treeOf(collector, String(deletion.attributes['espalier.job.id']));
    expect(only(tree, 'DeployItem a').attributes['espalier.phase']).to.equal('Deleted');
    expect(deletion.error).to.equal(undefined);
  });

  it('give each new deploy item its context, in the write that creates it', async () => {
    const controllers = await start();
    const scene = await cluster.scene();
    await scene.create(root('web', { items: [mockItem('a')] }));
    const { status } = await scene.finished('web', 'Succeeded');
    await controllers.stop();
    const item = scene.item('web', 'a');
    const { jobID = '' } = status ?? {};
    const name = item?.metadata.name ?? '';
    expect(item?.metadata.annotations?.[annotations.traceparent]).to.equal(
      `00-${jobID.replaceAll('-', '')}-${spanIdOf(jobID, { kind: 'DeployItem', namespace: scene.ns, name })}-01`,
    );
  });

  it('have each span once although two replicas share the work', async () => {
    const start = (): Promise<Controllers> =>
      startControllers(cluster, {
        more: {
          tracing: { enabled: true, endpoint: collector.url },
          fleet: { namespace: 'default', name: 'traces' },
        },
      });
    const replicas = [await start(), await start()];
    const scene = await cluster.scene();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await scene.create(root(name, { items: [mockItem('item')] }));
    for (const name of names) await scene.finished(name, 'Succeeded');
    for (const replica of replicas) await replica.stop();
    const ids: string[] = [];
    for (const name of names) {
      const tree = treeOf(collector, jobOf(scene, name));
      for (const span of [`Installation ${name}`, 'Execution', 'DeployItem item'])
        ids.push(only(tree, span).spanId);
    }
    expect(new Set(ids).size).to.equal(3 * names.length);
  });

  it('give a deployer in another process the context of its item, and room for its own spans', async () => {
    const controllers = await start(['none']);
    const scene = await cluster.scene();
    let traceparent: string | undefined;
    const deployer = await startDeployer(
      {
        type: 'test.example/traced',
        name: 'traced.example.org',
        version: '3',
        config: passthrough,
        async apply(ctx) {
          traceparent = ctx.trace.traceparent;
          await ctx.trace.span('write the disk', () => Promise.resolve(), { 'disk.size': 5 });
          return done();
        },
        remove: () => Promise.resolve(done()),
      },
      { kubeconfig: { text: cluster.kubeconfig }, tracing: { enabled: true, endpoint: collector.url } },
    );
    await scene.create(root('web', { items: [{ ...fakeItem('disk'), type: 'test.example/traced' }] }));
    await scene.finished('web', 'Succeeded');
    await deployer.stop();
    await controllers.stop();
    const tree = treeOf(collector, jobOf(scene, 'web'));
    const item = only(tree, 'DeployItem disk');
    const own = only(tree, 'write the disk');
    expect(traceparent).to.equal(`00-${item.traceId}-${item.spanId}-01`);
    expect(own.attributes).to.deep.equal({ 'disk.size': 5 });
    expect(own.parentSpanId).to.equal(only(tree, 'reconcile traced.example.org').spanId);
    expect(item.attributes).to.include({
      'espalier.deployer.name': 'traced.example.org',
      'espalier.deployer.version': '3',
    });
    expect(collector.resources.map((resource) => resource['service.name'])).to.include('traced.example.org');
  });

  it('are neither recorded nor mentioned if they are switched off', async () => {
    const received = collector.requests.length;
    const controllers = await startControllers(cluster, { more: { tracing: {} } });
    const scene = await cluster.scene();
    await scene.create(root('web', { items: [mockItem('a')] }));
    await scene.finished('web', 'Succeeded');
    await controllers.stop();
    expect(scene.item('web', 'a')?.metadata.annotations).not.to.have.property(annotations.traceparent);
    expect(collector.requests).to.have.length(received);
  });
});
