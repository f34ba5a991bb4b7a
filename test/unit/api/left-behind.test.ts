/** Objects that stay on other clusters: counts, limits and sentences. */
import { expect } from 'chai';
import {
  MAX_BYTES,
  MAX_CLUSTERS,
  countOf,
  describeEntry,
  describeLeftBehind,
  leftBehindWayOut,
  limited,
  objectsToDelete,
  withoutObjects,
  type LeftBehind,
} from '../../../src/api/left-behind.ts';

const resource = (name: string, more: object = {}) => ({
  policy: 'manage',
  resource: { apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'app', uid: `uid-${name}` },
  ...more,
});
const entry = (uid: string, ...names: string[]): LeftBehind => ({
  cluster: { uid, server: `https://${uid}` },
  providerStatus: { kind: 'ProviderStatus', managedResources: names.map((name) => resource(name)) },
});
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `object-${String(i)}`);
const sum = (all: readonly LeftBehind[]): number => all.reduce((count, one) => count + countOf(one), 0);

describe('the objects of a provider status that a deletion would delete', () => {
  const textsIn = (providerStatus: unknown) => objectsToDelete(providerStatus).map(({ text }) => text);

  it('are those of the inventory, except objects that stay because of their policy', () => {
    const managedResources = [
      resource('a'),
      resource('b', { policy: 'keep' }),
      resource('c', { policy: 'ignore' }),
      { kind: 'Namespace', name: 'older', uid: 'u' },
      { policy: 'manage', resource: { kind: 'Secret', name: 'd', uid: '' } },
    ];
    expect(textsIn({ managedResources })).to.deep.equal([
      'ConfigMap app/a',
      'Namespace older',
      'Secret d (perhaps not created)',
    ]);
  });

  it('are the release without its workloads, and objects that are not part of it', () => {
    const workload = { resource: { kind: 'Deployment', name: 'd', namespace: 'app' } };
    const release = { name: 'web', namespace: 'app' };
    expect(textsIn({ release, managedResources: [workload, resource('a')] })).to.deep.equal([
      'Helm release app/web',
      'ConfigMap app/a',
    ]);
  });

  for (const status of [undefined, null, 'x', {}, { managedResources: 5, release: 'x' }])
    it(`are none in ${JSON.stringify(status)}`, () => {
      expect(objectsToDelete(status)).to.deep.equal([]);
    });
});

describe('entries about other clusters', () => {
  it('are stored as they are within the limits', () => {
    const all = [entry('a', 'one'), entry('b', 'two')];
    expect(limited(all)).to.deep.equal(all);
  });

  it('only count the objects of the oldest clusters beyond the limit', () => {
    const all = Array.from({ length: MAX_CLUSTERS + 2 }, (_, i) => entry(`c${String(i)}`, 'one', 'two'));
    const [first, ...others] = limited(all);
    expect(first).to.deep.equal({ omitted: 4, clusters: 2 });
    expect(others).to.deep.equal(all.slice(2));
    expect(limited([...limited(all), entry('new', 'x')])[0]).to.deep.equal({ omitted: 6, clusters: 3 });
  });

  it('list as many objects as fit, newest cluster first, and count the others', () => {
    const many = numbered(3000);
    const all = limited([entry('old', ...many), entry('new', ...many)]);
    expect(JSON.stringify(all).length).to.be.below(MAX_BYTES + 200);
    expect(sum(all)).to.equal(6000);
    const [old, latest] = all;
    expect(old).to.deep.equal({ cluster: { uid: 'old', server: 'https://old' }, omitted: 3000 });
    expect(objectsToDelete(latest?.providerStatus).length).to.be.within(1000, 2999);
    expect(latest?.omitted).to.equal(3000 - objectsToDelete(latest?.providerStatus).length);
  });

  it('keep the count of an entry that is limited again', () => {
    const once = limited([entry('a', ...numbered(3000))]);
    expect(sum(limited(once))).to.equal(3000);
    expect(sum(limited([...once, entry('b', ...numbered(3000))]))).to.equal(6000);
  });

  it('end without objects that are known to be on the current cluster', () => {
    const one = entry('a', 'one', 'two');
    expect(withoutObjects(one, new Set(['uid-other']))).to.equal(one);
    expect(withoutObjects(one, new Set(['uid-one']))).to.deep.equal(entry('a', 'two'));
    expect(withoutObjects(one, new Set(['uid-one', 'uid-two']))).to.equal(undefined);
    const counted = { ...one, omitted: 2 };
    expect(countOf(withoutObjects(counted, new Set(['uid-one', 'uid-two'])) ?? {})).to.equal(2);
  });
});

describe('a sentence about objects on other clusters', () => {
  it('names the cluster and the objects', () => {
    expect(describeEntry(entry('a', 'one'))).to.equal(
      '1 object stays on cluster a (https://a): ConfigMap app/one',
    );
    expect(describeEntry({ cluster: { uid: 'a' }, omitted: 3 })).to.equal(
      '3 objects stay on cluster a: 3 more',
    );
    expect(describeEntry({ omitted: 3, clusters: 2 })).to.equal('3 objects stay on 2 older clusters');
    expect(describeEntry({ omitted: 3, clusters: 1 })).to.equal('3 objects stay on 1 older cluster');
  });

  it('lists five objects and five clusters at most, the newest first', () => {
    expect(describeEntry(entry('a', ...numbered(7))))
      .to.contain('object-4, and 2 more')
      .and.not.contain('object-5');
    const text = describeLeftBehind(numbered(7).map((uid) => entry(uid, 'x', 'y')));
    expect(text).to.match(/^2 objects stay on cluster object-6 /);
    expect(text).to.contain('cluster object-2').and.contain('; 4 more on other clusters');
    expect(text).to.not.contain('object-1 ');
  });

  it('says what to do', () => {
    const item = { name: 'web', namespace: 'demo', target: 'prod' };
    expect(leftBehindWayOut(item, 'next job'))
      .to.contain('let target prod lead to that cluster again, and the next job manages them again')
      .and.contain('espalier deployitems left-behind remove web -n demo --target-kubeconfig FILE;')
      .and.contain('espalier deployitems left-behind forget web -n demo');
    expect(leftBehindWayOut(item, 'deletion')).to.match(/forget web -n demo, and repeat the deletion$/);
    expect(leftBehindWayOut(item, 'deletion', 'kubectl espalier'))
      .to.contain(': kubectl espalier deployitems left-behind remove web')
      .and.contain(': kubectl espalier deployitems left-behind forget web');
  });
});
