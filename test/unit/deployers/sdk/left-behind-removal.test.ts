/** The removal of objects on a cluster to which the target of their item no longer leads. */
import { expect } from 'chai';
import { helmDeployer } from '../../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { targetReaderOf } from '../../../../deployers/sdk/controller.ts';
import type { DeployerPlugin } from '../../../../deployers/sdk/deployer.ts';
import type { DeployItem, Target } from '../../../../deployers/sdk/kinds.ts';
import { removeLeftBehind } from '../../../../deployers/sdk/left-behind-removal.ts';
import { standardTimeouts } from '../../../../deployers/sdk/timeout.ts';
import { leftBehindIn } from '../../../../src/api/left-behind.ts';
import { createComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import { c1, chartsHere, raw } from '../../../support/helm-charts.ts';
import { answer } from '../applying.ts';
import { helmConfig, LS } from '../bench.ts';
import { ClustersBench, settings } from '../clusters.ts';

const repositories = createComponentRepositories({ clock: systemClock, rng: seededRng(1) });
const helm = (): DeployerPlugin => helmDeployer({ repositories, chartsOf: chartsHere(), clock: systemClock });

/** An item with objects `one` and `two` on cluster a, whose target leads to cluster b. */
async function moved(...names: string[]): Promise<ClustersBench> {
  const bench = new ClustersBench();
  bench.giveItem(settings('one', 'two', ...names));
  await bench.job();
  bench.leadTo('b');
  await bench.job();
  return bench;
}

interface Options {
  readonly item?: View<DeployItem>;
  readonly others?: readonly View<DeployItem>[];
  readonly plugin?: DeployerPlugin;
  readonly waits?: string[];
}

/** @param cluster the one that the user names */
function remove(bench: ClustersBench, cluster: 'a' | 'b' = 'a', options: Options = {}) {
  const { clock, host } = bench;
  const { item = bench.item(), others = [], plugin = manifestDeployer(), waits = [] } = options;
  const rng = seededRng(1);
  const stored = host.find('Target', 'proj/cluster-a') as unknown as Target;
  const connect = () => Promise.resolve(bench[cluster]);
  return removeLeftBehind(
    {
      item,
      entries: leftBehindIn(item.status),
      target: stored,
      log: silentLogger,
      signal: new AbortController().signal,
      onWait: (why) => waits.push(why),
    },
    {
      plugin,
      client: host,
      clock,
      rng,
      timeouts: standardTimeouts,
      contexts: { get: (key) => host.find('Context', key) },
      targets: { get: () => undefined },
      reader: targetReaderOf({ client: host, clock, rng, log: silentLogger, connect }),
      managersOf: () => [item, ...others],
    },
  );
}

const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: unknown) => error as Error,
  );

describe('the removal of objects on another cluster', () => {
  it('deletes the recorded objects there, and nothing else', async () => {
    const bench = await moved();
    bench.a.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other', namespace: 'app' } });
    const { removed, remaining, entry } = await remove(bench);
    expect(removed).to.deep.equal(['ConfigMap app/one', 'ConfigMap app/two']);
    expect([remaining, entry.cluster.uid]).to.deep.equal([undefined, 'uid-a']);
    expect(bench.a.names('ConfigMap')).to.deep.equal(['app/other']);
    expect(bench.b.names('ConfigMap')).to.deep.equal(['app/one', 'app/two']);
  });

  it('is refused on a cluster without an entry, which it does not change', async () => {
    const bench = await moved();
    expect((await failure(remove(bench, 'b'))).message).to.equal(
      'no objects of the deploy item stay on cluster uid-b (https://b.invalid); they stay on: uid-a (https://a.invalid)',
    );
    expect(bench.b.names('ConfigMap')).to.deep.equal(['app/one', 'app/two']);
  });

  it('is refused on a cluster that does not show its identity', async () => {
    const bench = await moved();
    bench.a.drop('Namespace', 'kube-system');
    await bench.pass(60_000);
    expect((await failure(remove(bench))).message).to.contain('cannot verify which cluster this is');
    expect(bench.a.names('ConfigMap')).to.deep.equal(['app/one', 'app/two']);
  });

  it('leaves an object that another owner has created since', async () => {
    const bench = await moved();
    bench.a.drop('ConfigMap', 'app/one');
    bench.a.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one', namespace: 'app', uid: 'new' },
    });
    await remove(bench);
    expect(bench.a.names('ConfigMap')).to.deep.equal(['app/one']);
  });

  it('leaves objects that the item or another one manages', async () => {
    const bench = await moved();
    const uidOf = (name: string): string => bench.a.find('ConfigMap', `app/${name}`)?.metadata.uid ?? '';
    const item = bench.item();
    const managedResources = [
      { policy: 'manage', resource: { kind: 'ConfigMap', name: 'one', uid: uidOf('one') } },
    ];
    const own = { ...item, status: { ...item.status, providerStatus: { managedResources } } } as DeployItem;
    const other = { ...own, metadata: { name: 'other', namespace: 'proj' } } as DeployItem;
    const waits: string[] = [];
    const { removed } = await remove(bench, 'a', { item: own });
    expect(removed).to.deep.equal(['ConfigMap app/two']);
    await remove(bench, 'a', { others: [other], waits });
    expect(waits.join()).to.contain('because other deploy items also manage it: proj/other');
    expect(bench.a.names('ConfigMap')).to.deep.equal(['app/one']);
  });

  it('waits for objects that are being deleted, until the timeout of the item', async () => {
    const bench = await moved();
    bench.a.edit('ConfigMap', 'app/one', { metadata: { finalizers: ['x/y'] } });
    const waits: string[] = [];
    const end = failure(remove(bench, 'a', { waits }));
    await settle(40);
    expect(waits[0]).to.contain('waiting for the deletion of ConfigMap app/one');
    await bench.pass(300_000);
    await bench.pass(300_000);
    expect((await end).message).to.contain('timeout');
    const again = remove(bench);
    await settle(40);
    bench.a.edit('ConfigMap', 'app/one', { metadata: { finalizers: null } });
    await bench.pass(60_000);
    expect((await again).removed).to.have.length(2);
  });

  it('fails with the error of the cluster, and can be repeated', async () => {
    const bench = await moved();
    bench.a.fail = (verb, what) => {
      if (verb === 'delete') throw answer(403, `no right to delete ${what}`);
    };
    const waits: string[] = [];
    const end = failure(remove(bench, 'a', { waits }));
    await settle(40);
    await bench.pass(300_000);
    await bench.pass(300_000);
    expect(`${(await end).message} ${waits.join()}`).to.contain('no right to delete');
    bench.a.fail = () => undefined;
    expect((await remove(bench)).removed).to.have.length(2);
  });

  it('keeps the number of objects that were only counted', async () => {
    const bench = await moved();
    const [entry] = bench.status().leftBehind ?? [];
    bench.host.edit('DeployItem', 'proj/web', { status: { leftBehind: [{ ...entry, omitted: 7 }] } });
    const { removed, remaining } = await remove(bench);
    expect(removed).to.have.length(2);
    expect(remaining).to.deep.equal({ cluster: { uid: 'uid-a', server: 'https://a.invalid' }, omitted: 7 });
  });

  it('does not touch a release there if the item had a chart without one', async () => {
    const bench = new ClustersBench(helm());
    const chart = { ...raw(c1()), name: 'web' };
    bench.giveItem(helmConfig(chart), { type: `${LS}/helm` });
    await bench.job();
    bench.leadTo('b');
    await bench.job();
    bench.configure(helmConfig({ ...chart, helmDeployment: true }));
    const metadata = {
      name: 'sh.helm.release.v1.web.v1',
      namespace: 'app',
      labels: { owner: 'helm', name: 'web', version: '1', status: 'deployed' },
    };
    bench.a.put({ apiVersion: 'v1', kind: 'Secret', metadata });
    expect((await remove(bench, 'a', { plugin: helm() })).removed).to.deep.equal(['ConfigMap app/web-cm']);
    expect(bench.a.names('ConfigMap')).to.deep.equal([]);
    expect(bench.a.names('Secret')).to.deep.equal(['app/sh.helm.release.v1.web.v1']);
  });
});
