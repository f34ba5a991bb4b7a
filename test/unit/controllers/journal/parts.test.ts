/** The parts of a job: what each waited for, and how much is read to find it. */
import { expect } from 'chai';
import { partsOf } from '../../../../controllers/journal/parts.ts';
import { annotations } from '../../../../src/api/labels.ts';
import type { DeployItem } from '../../../../src/api/kinds/deployitem.ts';
import { child, done, execution, installation, item } from '../../../support/given.ts';
import { worldOf } from '../../../support/static-world.ts';

const root = installation('r', { status: done('j') });
const run = execution('r', {
  status: done('j'),
  meta: { ownerReferences: [{ apiVersion: 'v1', kind: 'Installation', name: 'r', uid: 'uid-r' }] },
});
const finished = (second: number) => ({
  ...done('j'),
  transitionTimes: { finishedTime: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` },
});
const after = (...names: string[]) => ({ annotations: { [annotations.dependsOn]: names.join(',') } });

const waits = (world: Parameters<typeof partsOf>[2]): Record<string, readonly string[] | undefined> =>
  Object.fromEntries(partsOf(root, 'j', world).parts.map(({ name, waitedFor }) => [name, waitedFor]));

describe('what the parts of a job waited for', () => {
  it('is the items that an item depends on, in the order in which they finished', () => {
    const items = [
      item('r', 'a', finished(9)),
      item('r', 'b', finished(3)),
      item('r', 'c', finished(20), after('a', 'b', 'missing')),
    ];
    expect(waits(worldOf(root, run, ...items))).to.include({ 'r-a-x': undefined });
    expect(waits(worldOf(root, run, ...items))['r-c-x']).to.deep.equal(['b', 'a']);
  });

  it('names a template once, however many items have it', () => {
    const twice = [1, 5].map((second) => item('r', 'a', finished(second), { name: `a-${second}` }));
    const items = [...twice, item('r', 'b', finished(3)), item('r', 'c', finished(9), after('a', 'b'))];
    expect(waits(worldOf(root, run, ...items))['r-c-x']).to.deep.equal(['b', 'a']);
  });

  it('is found without a comparison of all items with each other', () => {
    let reads = 0;
    const counted = (one: DeployItem): DeployItem => {
      const { labels: own } = one.metadata;
      const metadata = Object.defineProperty({ ...one.metadata }, 'labels', {
        enumerable: true,
        get() {
          reads++;
          return own;
        },
      });
      return { ...one, metadata };
    };
    const names = Array.from({ length: 300 }, (_, i) => `n${i}`);
    const items = names.map((name, i) => counted(item('r', name, finished(1), after(names[i - 1] ?? ''))));
    const world = worldOf(root, run, ...items);
    reads = 0;
    expect(waits(world)['r-n299-x']).to.deep.equal(['n298']);
    expect(reads).to.be.at.most(10 * 300);
  });

  it('reads a few of many siblings that export the same name', () => {
    const crowd = Array.from({ length: 300 }, (_, i) => {
      const one = child('r', `c${i}`, done('j'));
      const imports = { data: [{ name: 'in', dataRef: 'x' }] };
      const exports = { data: [{ name: 'out', dataRef: 'x' }] };
      return { ...one, spec: { ...one.spec, imports, exports } };
    });
    const exporter = waits(worldOf(root, ...crowd))['c299-x'] ?? [];
    expect(exporter).to.have.lengthOf(10);
  });
});
