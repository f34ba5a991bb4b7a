/** The inventory of an item belongs to a cluster, whatever its target leads to now. */
import { expect } from 'chai';
import type { DeployerPlugin } from '../../../../deployers/sdk/deployer.ts';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { targetReaderOf } from '../../../../deployers/sdk/controller.ts';
import type { Target } from '../../../../deployers/sdk/kinds.ts';
import { done } from '../../../../deployers/sdk/outcome.ts';
import { planItem, withoutWrites } from '../../../../deployers/sdk/plan.ts';
import { standardTimeouts } from '../../../../deployers/sdk/timeout.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { LS } from '../bench.ts';
import { ClustersBench, settings } from '../clusters.ts';
import { answer } from '../applying.ts';

async function deployedOnA(...names: string[]): Promise<ClustersBench> {
  const bench = new ClustersBench();
  bench.giveItem(settings(...names));
  await bench.job();
  return bench;
}

describe('a deploy item whose target leads to another cluster', () => {
  it('records the cluster before it creates the first object', async () => {
    const bench = await deployedOnA('one');
    const begun = bench.history.find(({ phase }) => phase === 'Progressing');
    expect(begun?.targetCluster).to.deep.equal({ uid: 'uid-a', server: 'https://a.invalid' });
    expect(bench.status().targetCluster).to.deep.equal({ uid: 'uid-a', server: 'https://a.invalid' });
    expect(bench.condition()).to.equal(undefined);
  });

  it('deploys to the new cluster, and reports what stays on the old one', async () => {
    const bench = await deployedOnA('one', 'two');
    bench.leadTo('b');
    bench.configure(settings('one'));
    await bench.job();
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.b.names('ConfigMap')).to.deep.equal(['app/one']);
    expect(bench.a.names('ConfigMap')).to.deep.equal(['app/one', 'app/two']);
    expect(bench.status().targetCluster?.uid).to.equal('uid-b');
    expect(bench.managed()).to.deep.equal(['one']);
    expect(bench.leftBehind()).to.deep.equal(['uid-a: one two']);
    expect(bench.condition())
      .to.contain('2 objects stay on cluster uid-a (https://a.invalid): ConfigMap app/one, ConfigMap app/two')
      .and.contain('let target cluster-a lead to that cluster again')
      .and.contain('espalier deployitems left-behind remove web -n proj --target-kubeconfig FILE')
      .and.contain('espalier deployitems left-behind forget web -n proj');
    expect(bench.events.filter((event) => event.includes('ObjectsLeftBehind'))).to.have.length(1);
  });

  it('deletes nothing on the new cluster that only the old inventory lists', async () => {
    const bench = await deployedOnA('one', 'two');
    const uid = bench.a.find('ConfigMap', 'app/two')?.metadata.uid;
    const labels = bench.a.find('ConfigMap', 'app/two')?.metadata.labels;
    bench.b.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'two', namespace: 'app', uid: uid ?? '', labels: labels ?? {} },
    });
    bench.leadTo('b');
    bench.configure(settings('one'));
    await bench.job();
    expect(bench.b.names('ConfigMap')).to.have.members(['app/one', 'app/two']);
  });

  it('manages the objects again when the target leads back', async () => {
    const bench = await deployedOnA('one', 'two');
    bench.leadTo('b');
    await bench.job();
    bench.leadTo('a');
    bench.configure(settings('one'));
    await bench.job();
    expect(bench.a.names('ConfigMap')).to.deep.equal(['app/one']);
    expect(bench.leftBehind()).to.deep.equal(['uid-b: one two']);
    expect(bench.condition()).to.contain('2 objects stay on cluster uid-b');
    expect(bench.events.join()).to.contain('manages 2 objects there again');
    bench.leadTo('b');
    bench.configure(settings());
    await bench.job();
    expect(bench.b.names('ConfigMap')).to.deep.equal([]);
    expect(bench.leftBehind()).to.deep.equal(['uid-a: one']);
  });

  it('has nothing to report if it has nothing on the old cluster', async () => {
    const bench = await deployedOnA();
    bench.leadTo('b');
    bench.configure(settings('one'));
    await bench.job();
    expect(bench.status().targetCluster?.uid).to.equal('uid-b');
    expect([bench.leftBehind(), bench.condition()]).to.deep.equal([[], undefined]);
  });

  it('keeps the record if the job on the new cluster fails, and the target leads back', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    bench.b.fail = (verb, what) => {
      if (verb === 'create') throw answer(503, `${what}: later`);
    };
    await bench.job();
    await bench.pass(180_000);
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.leftBehind()).to.deep.equal(['uid-a: one']);
    bench.leadTo('a');
    await bench.job();
    expect(bench.status().phase).to.equal('Succeeded');
    expect([bench.managed(), bench.leftBehind()]).to.deep.equal([['one'], ['uid-b: one']]);
    expect(bench.condition()).to.contain(
      'cluster uid-b (https://b.invalid): ConfigMap app/one (perhaps not created)',
    );
  });

  it('applies again if the target leads to another cluster while the job waits', async () => {
    const bench = new ClustersBench();
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'app' },
    };
    bench.giveItem({ ...settings(), manifests: [{ policy: 'manage', manifest: deployment }] });
    await bench.job();
    expect(bench.status().phase).to.equal('Progressing');
    bench.leadTo('b');
    bench.host.edit('Target', 'proj/cluster-a', { metadata: { labels: { changed: 'yes' } } });
    await bench.pass(60_000);
    expect(bench.b.names('Deployment')).to.deep.equal(['app/d']);
    expect(bench.leftBehind()).to.deep.equal(['uid-a: d']);
  });
});

describe('a deploy item whose cluster is unknown', () => {
  it('behaves as before, and records nothing', async () => {
    const bench = new ClustersBench(undefined, { a: undefined, b: undefined });
    bench.giveItem(settings('one'));
    await bench.job();
    bench.leadTo('b');
    await bench.job();
    expect(bench.status().phase).to.equal('Succeeded');
    expect([bench.status().targetCluster, bench.leftBehind()]).to.deep.equal([undefined, []]);
    await bench.delete();
    await bench.job();
    expect(bench.isGone()).to.equal(true);
    expect(bench.b.names('ConfigMap')).to.deep.equal([]);
  });

  it('keeps its record while the server refuses to show its identity', async () => {
    const bench = await deployedOnA('one');
    bench.a.fail = (_verb, what) => {
      if (what === 'Namespace kube-system') throw answer(403, 'no');
    };
    await bench.pass(60_000);
    await bench.job();
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().targetCluster?.uid).to.equal('uid-a');
  });

  it('has no record after a success on another server that does not show its identity', async () => {
    const bench = new ClustersBench(undefined, { a: 'uid-a', b: undefined });
    bench.giveItem(settings('one'));
    await bench.job();
    bench.leadTo('b');
    await bench.job();
    expect([bench.status().targetCluster, bench.leftBehind()]).to.deep.equal([undefined, []]);
    bench.b.identify('uid-b');
    await bench.pass(60_000);
    await bench.job();
    expect(bench.status().targetCluster?.uid).to.equal('uid-b');
  });

  it('takes the cluster of its next success if an earlier version has deployed it', async () => {
    const bench = new ClustersBench();
    bench.giveItem(settings('one'));
    await bench.job();
    bench.host.edit('DeployItem', 'proj/web', { status: { targetCluster: null } });
    bench.history.length = 0;
    await bench.job();
    expect(bench.status().targetCluster?.uid).to.equal('uid-a');
    const begun = bench.history.filter(({ phase }) => phase !== 'Succeeded');
    expect(begun.map(({ targetCluster }) => targetCluster)).to.deep.equal(begun.map(() => undefined));
    expect(bench.leftBehind()).to.deep.equal([]);
  });

  it('keeps the list of objects on another cluster', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    await bench.job();
    bench.host.edit('DeployItem', 'proj/web', { status: { targetCluster: null } });
    await bench.job();
    expect([bench.status().phase, bench.leftBehind()]).to.deep.equal(['Succeeded', ['uid-a: one']]);
    expect(bench.status().targetCluster?.uid).to.equal('uid-b');
  });

  it('keeps its record after a success on another server that reports no inventory', async () => {
    const plugin = manifestDeployer() as DeployerPlugin;
    let reportsNothing = false;
    const apply: DeployerPlugin['apply'] = (ctx) =>
      reportsNothing ? Promise.resolve(done()) : plugin.apply(ctx);
    const bench = new ClustersBench({ ...plugin, apply }, { a: 'uid-a', b: undefined });
    bench.giveItem(settings('one'));
    await bench.job();
    bench.leadTo('b');
    reportsNothing = true;
    await bench.job();
    expect([bench.status().phase, bench.managed()]).to.deep.equal(['Succeeded', ['one']]);
    expect(bench.status().targetCluster?.uid).to.equal('uid-a');
  });

  it('takes no cluster of a job that fails', async () => {
    const bench = await deployedOnA('one');
    bench.host.edit('DeployItem', 'proj/web', { status: { targetCluster: null } });
    bench.configure(settings('one', 'two'));
    bench.a.fail = (verb, what) => {
      if (verb === 'create') throw answer(503, `${what}: later`);
    };
    await bench.job();
    await bench.pass(180_000);
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.status().targetCluster).to.equal(undefined);
  });

  it('is retried if the server fails to say which it is, instead of deleting anything there', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    bench.b.fail = (_verb, what) => {
      if (what === 'Namespace kube-system') throw answer(503, 'later');
    };
    await bench.job();
    expect(bench.status().lastError?.message).to.contain(
      'cannot find out to which cluster target cluster-a leads',
    );
    expect(bench.status().phase).to.equal('Progressing');
    expect(bench.b.takeRequests().filter((one) => one !== 'get Namespace kube-system')).to.deep.equal([]);
    bench.b.fail = () => undefined;
    await bench.pass(10_000);
    expect(bench.leftBehind()).to.deep.equal(['uid-a: one']);
  });
});

describe('the deletion of a deploy item with objects on another cluster', () => {
  const calls: string[] = [];
  const counting = (): DeployerPlugin => {
    const plugin = manifestDeployer() as DeployerPlugin;
    return {
      ...plugin,
      remove: (ctx) => {
        calls.push(ctx.item.metadata.name);
        return plugin.remove(ctx);
      },
    };
  };
  beforeEach(() => {
    calls.length = 0;
  });

  it('deletes nothing on the current cluster, and fails once with both clusters and the way out', async () => {
    const bench = new ClustersBench(counting());
    bench.giveItem(settings('one'));
    await bench.job();
    bench.b.put({
      ...(bench.a.find('ConfigMap', 'app/one') as object),
      metadata: bench.a.find('ConfigMap', 'app/one')?.metadata,
    } as never);
    bench.leadTo('b');
    await bench.delete();
    await bench.job();
    expect(bench.status().phase).to.equal('DeleteFailed');
    expect(bench.status().jobIDFinished).to.equal('j2');
    expect(bench.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(bench.status().lastError?.message)
      .to.contain('1 object stays on cluster uid-a (https://a.invalid): ConfigMap app/one')
      .and.contain('target cluster-a now leads to cluster uid-b (https://b.invalid)')
      .and.contain('and repeat the deletion');
    expect(bench.b.names('ConfigMap')).to.deep.equal(['app/one']);
    expect(calls).to.deep.equal([]);
    await bench.job();
    expect([bench.status().phase, bench.leftBehind(), calls]).to.deep.equal([
      'DeleteFailed',
      ['uid-a: one'],
      [],
    ]);
    bench.host.edit('DeployItem', 'proj/web', { status: { leftBehind: null } });
    await bench.job();
    expect([bench.isGone(), calls]).to.deep.equal([true, []]);
    expect(bench.b.names('ConfigMap')).to.deep.equal(['app/one']);
  });

  it('succeeds when the target leads back', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    await bench.delete();
    await bench.job();
    bench.leadTo('a');
    await bench.job();
    expect(bench.isGone()).to.equal(true);
    expect(bench.a.names('ConfigMap')).to.deep.equal([]);
  });

  it('first removes what is on the current cluster', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    await bench.job();
    await bench.delete();
    await bench.job();
    expect(bench.status().phase).to.equal('DeleteFailed');
    expect(bench.b.names('ConfigMap')).to.deep.equal([]);
    expect(bench.a.names('ConfigMap')).to.deep.equal(['app/one']);
    expect([bench.managed(), bench.leftBehind()]).to.deep.equal([[], ['uid-a: one']]);
    bench.host.edit('DeployItem', 'proj/web', { status: { leftBehind: null } });
    await bench.job();
    expect(bench.isGone()).to.equal(true);
  });

  it('asks the plugin if the inventory of the current cluster was lost', async () => {
    const bench = new ClustersBench(counting());
    bench.giveItem(settings('one'));
    await bench.job();
    bench.host.edit('DeployItem', 'proj/web', { status: { providerStatus: null } });
    await bench.delete();
    await bench.job();
    expect(calls).to.deep.equal(['web']);
  });

  it('asks the plugin if the cluster of an empty inventory is unknown', async () => {
    const bench = new ClustersBench(counting());
    bench.giveItem(settings());
    await bench.job();
    bench.host.edit('DeployItem', 'proj/web', { status: { targetCluster: null } });
    await bench.delete();
    await bench.job();
    expect(calls).to.deep.equal(['web']);
  });

  it('keeps the record while the removal on the current cluster fails', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    await bench.job();
    bench.b.fail = (verb, what) => {
      if (verb === 'delete') throw answer(503, `${what}: later`);
    };
    await bench.delete();
    await bench.job();
    expect([bench.managed(), bench.leftBehind()]).to.deep.equal([['one'], ['uid-a: one']]);
  });

  it('releases everything if the item is deleted without being uninstalled', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    await bench.job();
    bench.host.edit('DeployItem', 'proj/web', {
      metadata: { annotations: { [`${LS}/delete-without-uninstall`]: 'true' } },
    });
    await bench.delete();
    await bench.job();
    expect(bench.isGone()).to.equal(true);
    expect([bench.a.names('ConfigMap'), bench.b.names('ConfigMap')]).to.deep.equal([
      ['app/one'],
      ['app/one'],
    ]);
  });

  it('deletes nothing while the server fails to say which it is', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    bench.b.fail = (_verb, what) => {
      if (what === 'Namespace kube-system') throw answer(503, 'later');
    };
    await bench.delete();
    await bench.job();
    expect(bench.status().phase).to.equal('Deleting');
    expect(bench.b.takeRequests().filter((one) => one.startsWith('delete'))).to.deep.equal([]);
    expect(bench.managed()).to.deep.equal(['one']);
  });
});

describe('the plan of a deploy item with objects on another cluster', () => {
  const planned = (bench: ClustersBench, direction: 'apply' | 'remove' = 'apply') => {
    const { clock, host } = bench;
    const rng = seededRng(1);
    const target = host.find('Target', 'proj/cluster-a') as unknown as View<Target>;
    const connect = (kubeconfig: string) =>
      Promise.resolve(withoutWrites(kubeconfig.includes('cluster-b') ? bench.b : bench.a));
    const reader = targetReaderOf({ client: host, clock, rng, log: silentLogger, connect });
    return planItem(
      { direction, target, item: bench.item(), log: silentLogger, signal: new AbortController().signal },
      {
        plugin: manifestDeployer(),
        client: host,
        clock,
        rng,
        timeouts: standardTimeouts,
        contexts: { get: (key) => host.find('Context', key) },
        targets: { get: () => target },
        reader,
        managersOf: () => [],
      },
    );
  };

  it('says what a job would leave there, and that a deletion fails', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    const plan = await planned(bench);
    expect(plan?.objects.map(({ change, ref }) => `${change} ${ref.name}`)).to.deep.equal(['create one']);
    expect(plan?.notes.join()).to.contain(
      '1 object stays on cluster uid-a (https://a.invalid): ConfigMap app/one',
    );
    const deletion = await planned(bench, 'remove');
    expect(deletion?.objects).to.deep.equal([]);
    expect(deletion?.notes.join()).to.contain('the deletion will fail: 1 object stays on cluster uid-a');
    expect(bench.leftBehind()).to.deep.equal([]);
  });

  it('says that a job will manage them again', async () => {
    const bench = await deployedOnA('one');
    bench.leadTo('b');
    await bench.job();
    bench.leadTo('a');
    const plan = await planned(bench);
    expect(plan?.objects.map(({ change }) => change)).to.deep.equal(['unchanged']);
    expect(plan?.notes.join())
      .to.contain('the deploy item manages 1 object there again')
      .and.contain('1 object stays on cluster uid-b');
  });

  it('says nothing if all objects are on the cluster of the target', async () => {
    expect((await planned(await deployedOnA('one')))?.notes).to.deep.equal([]);
  });
});
