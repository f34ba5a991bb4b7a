import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { annotations, labels } from '../../../src/api/labels.ts';
import { isBeingDeleted } from '../../../src/api/job.ts';
import { shootKind } from '../../../src/landscape/source-cluster.ts';
import { useCluster } from '../../support/cluster.ts';
import { fakeItem, plan } from '../../support/landscape.ts';
import { Place, serveShoots, startSource, Syncs, type Source } from './landscape.ts';

const KUBECONFIG = JSON.stringify({
  clusters: [{ name: 'c', cluster: { server: 'https://api.s1.garden.example' } }],
  users: [{ name: 'u', user: {} }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
});

describe('an item that is forgotten when its cluster is deleted', () => {
  const use = useCluster({ controllers: ['execution', 'targetsync'], deployers: [] });
  let garden: Source;
  let other: Source;
  before(async () => {
    [garden, other] = await Promise.all([startSource(), startSource()]);
    await serveShoots(garden);
  });
  after(() => Promise.all([garden.close(), other.close()]));

  /**
   * An execution whose item `a` was installed on shoot `s1` of the source; item `b` is there as well, but is
   * uninstalled normally.
   */
  async function installed(cluster: Source, kubeconfig = KUBECONFIG) {
    const scene = await use.scene();
    const source = await cluster.place();
    const here = new Place(scene.cluster.client, scene.ns);
    await source.secret('prod', { kubeconfig });
    await here.secret('source-access', { kubeconfig: cluster.kubeconfig });
    const syncs = new Syncs(scene, source);
    await syncs.create('sync', { secretNameExpression: '^prod$' });
    await syncs.passed('sync');
    await scene.until('the target is in view', () => scene.target('prod'));
    const target = { name: 'prod', namespace: scene.ns };
    const onDelete = { skipUninstallIfClusterRemoved: true };
    await scene.create(plan([fakeItem('a', { target, onDelete }), fakeItem('b', { target })]));
    const run = (jobID: string) => scene.patchStatus(executionKind, 'plan', { jobID });
    const end = () =>
      scene.until('the job has ended', () => {
        const { status } = scene.execution('plan') ?? {};
        return status?.jobID && status.jobIDFinished === status.jobID ? status : undefined;
      });
    return { scene, source, syncs, run, end };
  }

  async function leaving(cluster: Source) {
    const there = await installed(cluster);
    const { scene, run, end } = there;
    await run('j1');
    await Promise.all([scene.answer('plan', 'a'), scene.answer('plan', 'b')]);
    await end();
    return {
      ...there,
      async leave() {
        await scene.remove(executionKind, 'plan');
        await run('j2');
      },
    };
  }

  it('CORE-101: records the shoot, for items that ask for it only', async () => {
    const { scene } = await leaving(garden);
    expect(scene.item('plan', 'a')?.metadata.annotations).to.include({ [annotations.clusterName]: 's1' });
    expect(scene.item('plan', 'b')?.metadata.annotations).not.to.have.property(annotations.clusterName);
  });

  it('CORE-101: is forgotten if the shoot is gone; others are uninstalled', async () => {
    const { scene, leave } = await leaving(garden);
    const { name } = scene.item('plan', 'a')?.metadata ?? { name: '' };
    await leave();
    await scene.gone(deployItemKind, name);
    await scene.uninstall('plan', 'b');
    await scene.gone(executionKind, 'plan');
    const jobs = scene.seen(deployItemKind, name).map(({ status }) => status?.jobID);
    expect(jobs).not.to.include('j2');
  });

  it('CORE-101: is uninstalled while the shoot exists', async () => {
    const { scene, source, leave } = await leaving(garden);
    const metadata = { name: 's1', namespace: source.namespace };
    const object = { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', metadata };
    await source.client.send({ verb: 'create', kind: shootKind, object });
    await leave();
    await scene.uninstall('plan', 'a');
    await scene.uninstall('plan', 'b');
    await scene.gone(executionKind, 'plan');
  });

  it('CORE-101: is uninstalled if the source serves no shoots, because nothing can be determined', async () => {
    const { scene, leave } = await leaving(other);
    await leave();
    await scene.uninstall('plan', 'a');
    await scene.uninstall('plan', 'b');
    await scene.gone(executionKind, 'plan');
  });

  it('CORE-101: waits while there is no TargetSync to determine it', async () => {
    const { scene, syncs, leave } = await leaving(garden);
    await syncs.delete('sync');
    await leave();
    const execution = await scene.until('the execution misses it', () => {
      const found = scene.execution('plan');
      return found?.status?.lastError ? found : undefined;
    });
    expect(execution.status?.phase).to.equal('Deleting');
    expect(execution.status?.lastError).to.include({
      operation: 'skipUninstall',
      reason: 'fetchTargetSync',
      message: 'targetsync not found or not unique',
    });
    expect(scene.items('plan').every((item) => isBeingDeleted(item.metadata))).to.equal(true);
    await syncs.create('sync', { secretNameExpression: '^prod$' });
    await scene.uninstall('plan', 'b');
    await scene.gone(executionKind, 'plan');
  });

  it('CORE-101: is forgotten as an orphan, too', async () => {
    const { scene, run, end } = await leaving(garden);
    await scene.patch(executionKind, 'plan', {
      spec: { deployItems: [fakeItem('c')], deployItemsCompressed: null },
    });
    await run('j2');
    await scene.uninstall('plan', 'b');
    await scene.answer('plan', 'c');
    await end();
    expect(scene.items('plan').map((item) => item.metadata.labels?.[labels.executionName])).to.deep.equal([
      'c',
    ]);
  });

  it('CORE-101: fails its job if its cluster cannot be determined from the kubeconfig', async () => {
    const { run, end } = await installed(garden, KUBECONFIG.replace('api.s1.', 'www.'));
    await run('j1');
    const status = await end();
    expect(status.phase).to.equal('Failed');
    expect(status.lastError?.message).to.match(
      /deploy item a .* the server of target prod does not have an address of the form/,
    );
  });
});
