/** The planner with nodes that are not dependents: deploy items, and stages of manifests. */
import { expect } from 'chai';
import { assign, planRemoval, planStart } from '../../../controllers/execution/classify.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { Bench, configMap, manage, manifestConfig } from '../deployers/bench.ts';
import { deleting, done, execution, item, running, template } from '../../support/given.ts';

describe('an execution', () => {
  const templates = [template('a'), template('b', { dependsOn: ['a'] }), template('c')];
  const self = execution('e', { items: templates, status: running('j1') });
  const planned = (items: readonly DeployItem[]) =>
    planStart(self, templates, assign(self, templates, items).active);
  const old = done('j0');

  it('RUN-95: hands its job to a and c, then to b, and is finished when all have succeeded', () => {
    const first = planned([item('e', 'a', old), item('e', 'b', old), item('e', 'c', old)]);
    expect(first.start).to.deep.equal(['a', 'c']);
    const second = planned([item('e', 'a', done('j1')), item('e', 'b', old), item('e', 'c', running('j1'))]);
    expect(second.start).to.deep.equal(['b']);
    const last = planned(['a', 'b', 'c'].map((name) => item('e', name, done('j1'))));
    expect(last).to.include({ settled: true }).and.to.deep.include({ blocked: [], failed: [] });
  });

  it('RUN-95: lets running items finish after a failure, and hands its job to no other', () => {
    const failed = item('e', 'a', done('j1', 'Failed'));
    const during = planned([failed, item('e', 'b', old), item('e', 'c', running('j1'))]);
    expect(during).to.deep.include({ start: [], running: ['c'], settled: false });
    const after = planned([failed, item('e', 'b', old), item('e', 'c', done('j1'))]);
    expect(after).to.deep.include({ start: [], blocked: ['b'], failed: ['a'], settled: true });
  });

  it('RUN-95: deletes b before a and c, and stops behind one that cannot be deleted', () => {
    const gone = execution('e', { items: templates, status: running('j2'), meta: deleting });
    const left = (...items: readonly DeployItem[]) => planRemoval(gone, templates, items);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => item('e', name, done('j1'))) as [
      DeployItem,
      DeployItem,
      DeployItem,
    ];
    expect(left(a, b, c).remove).to.deep.equal([b, c].map(({ metadata }) => metadata.name));
    expect(left(a, c).remove).to.deep.equal([a, c].map(({ metadata }) => metadata.name));
    const stuck = item('e', 'b', done('j2', 'DeleteFailed'));
    expect(left(a, stuck, c).remove).to.deep.equal([]);
  });
});

describe('the manifest deployer', () => {
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'xs.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { kind: 'X', plural: 'xs' },
      versions: [{ name: 'v1' }],
    },
  };
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } };

  it('RUN-96: works in three waves, and a failure in one does not stop the next', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.target.fail = (verb, what) => {
      if (verb === 'create' && what.startsWith('ClusterRole')) throw new Error('roles are not to be had');
    };
    b.giveItem(manifestConfig({ manifests: [manage(configMap('m')), manage(role), manage(crd)] }));
    b.target.takeRequests();
    await b.kick('j1');
    const creates = b.target.takeRequests().filter((request) => request.startsWith('create'));
    expect(creates.slice(0, 3).map((request) => request.split(' ')[1])).to.deep.equal([
      'CustomResourceDefinition',
      'ClusterRole',
      'ConfigMap',
    ]);
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/m']);
    expect(b.status().lastError?.message).to.include('ClusterRole r').and.include('roles are not to be had');
  });

  it('RUN-96: treats each object according to its policy', async () => {
    const policies = ['manage', 'keep', 'immutable', 'fallback', 'ignore'] as const;
    const manifests = (mode: string, without: readonly string[] = []): object =>
      manifestConfig({
        manifests: policies
          .filter((policy) => !without.includes(policy))
          .map((policy) => ({ policy, manifest: configMap(policy, { mode }) })),
      });
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.target.put(configMap('fallback', { mode: 'theirs' }));
    b.giveItem(manifests('old'));
    await b.kick('j1');
    b.target.takeRequests();
    b.configure(manifests('new'));
    await b.kick('j2');
    const modes = (): unknown =>
      Object.fromEntries(policies.map((name) => [name, b.target.find('ConfigMap', `app/${name}`)?.['data']]));
    expect(modes()).to.deep.equal({
      manage: { mode: 'new' },
      keep: { mode: 'new' },
      immutable: { mode: 'old' },
      fallback: { mode: 'theirs' },
      ignore: undefined,
    });
    expect(b.target.takeRequests().filter((request) => request.includes('ignore'))).to.deep.equal([]);
    b.configure(manifests('new', ['manage', 'keep']));
    await b.kick('j3');
    expect(b.target.names('ConfigMap')).to.include('app/keep').and.not.include('app/manage');
  });

  it('RUN-96: deletes in three waves, each after the one before is gone', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    const held = configMap('m');
    b.giveItem(manifestConfig({ manifests: [manage(held), manage(role), manage(crd)] }));
    await b.kick('j1');
    const hold = (finalizers: readonly string[] | null): void => {
      b.target.edit('ConfigMap', 'app/m', { metadata: { finalizers } });
    };
    hold(['test/hold']);
    const deletes = (): string[] =>
      b.target
        .takeRequests()
        .filter((request) => request.startsWith('delete'))
        .map((request) => request.split(' ')[1] ?? '');
    await b.delete();
    b.target.takeRequests();
    await b.kick('j2');
    expect(new Set(deletes())).to.deep.equal(new Set(['ConfigMap']));
    expect(b.isGone()).to.equal(false);
    hold(null);
    await b.pass(60_000);
    // The delete that returns not found shows that the first wave is gone.
    expect(deletes()).to.deep.equal(['ConfigMap', 'ClusterRole', 'CustomResourceDefinition']);
    expect(b.isGone()).to.equal(true);
  });
});
