/** The parts of a job: what each waited for, and how much is read to find it. */
import { expect } from 'chai';
import { partsOf } from '../../../../controllers/journal/parts.ts';
import { annotations } from '../../../../src/api/labels.ts';
import type { DeployItem } from '../../../../src/api/kinds/deployitem.ts';
import { MAX_TREE_DEPTH } from '../../../../src/landscape/tree.ts';
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

describe('the parts of a job', () => {
  const exporting = (template: string, more: object, name = 'x') => {
    const one = child('r', template, { ...done('j'), ...more });
    return { ...one, spec: { ...one.spec, exports: { data: [{ name: 'out', dataRef: name }] } } };
  };
  const shape = (world: Parameters<typeof partsOf>[2]) =>
    partsOf(root, 'j', world).parts.map(({ kind, title, depth }) => `${depth} ${kind} ${title}`);

  it('are listed from the top down, siblings in the order in which they started', () => {
    const started = (second: number) => ({
      transitionTimes: { triggerTime: `2026-01-01T00:00:0${second}Z` },
    });
    const world = worldOf(
      root,
      run,
      item('r', 'late', { ...done('j'), ...started(3) }),
      item('r', 'never', done('j')),
      item('r', 'early', { ...done('j'), ...started(1) }),
      exporting('b', started(1)),
      exporting('a', started(2)),
      { ...child('b-x', 'inner', done('j')), metadata: child('b-x', 'inner').metadata },
    );
    expect(shape(world)).to.deep.equal([
      '1 Execution r',
      '2 DeployItem early',
      '2 DeployItem late',
      '2 DeployItem never',
      '1 Installation b',
      '2 Installation inner',
      '1 Installation a',
    ]);
  });

  it('are not the execution of an earlier installation of the same name', () => {
    const other = execution('r', { status: done('j'), meta: { ownerReferences: [] } });
    expect(shape(worldOf(root, other, item('r', 'a', done('j'))))).to.deep.equal([]);
    expect(shape(worldOf(root))).to.deep.equal([]);
  });

  it('are counted, but not listed, if they did not finish this job', () => {
    const { parts, others } = partsOf(
      root,
      'j',
      worldOf(root, run, item('r', 'a', done('i')), exporting('b', done('k'))),
    );
    expect([parts.map(({ title }) => title), others]).to.deep.equal([['r'], 2]);
  });

  it('have a name, times and phase, and an error only if they failed, shortened and without empty codes', () => {
    const transitionTimes = { triggerTime: 't', initTime: 'i', waitTime: 'w', finishedTime: 'f' };
    const lastError = { operation: 'o', reason: 'r', message: 'm'.repeat(500), codes: [] };
    const partOf = (phase: string, codes: string[]) =>
      partsOf(
        root,
        'j',
        worldOf(root, exporting('a', { phase, transitionTimes, lastError: { ...lastError, codes } })),
      ).parts[0];
    const times = { triggeredAt: 't', startedAt: 'i', waitedAt: 'w', endedAt: 'f' };
    const common = { kind: 'Installation', name: 'a-x', title: 'a', depth: 1, ...times };
    expect(partOf('Succeeded', [])).to.deep.equal({ ...common, phase: 'Succeeded' });
    const { error, ...rest } = partOf('Failed', [])!;
    expect(rest).to.deep.equal({ ...common, phase: 'Failed' });
    expect(error).to.have.all.keys('operation', 'reason', 'message');
    expect(error?.message).to.have.length(400);
    expect(partOf('Failed', ['ERR_TIMEOUT'])?.error?.codes).to.deep.equal(['ERR_TIMEOUT']);
  });

  it('wait for the siblings that export what they import, but not for themselves', () => {
    const importing = exporting('b', {}, 'y');
    const circle = {
      ...importing,
      spec: { ...importing.spec, imports: { data: ['x', 'y'].map((name) => ({ name, dataRef: name })) } },
    };
    expect(waits(worldOf(root, exporting('a', {}), circle))).to.deep.equal({
      'a-x': undefined,
      'b-x': ['a'],
    });
  });

  it('stop below the depth to which trees are processed', () => {
    const chain = Array.from({ length: 120 }, (_, i) => {
      const one = child(i === 0 ? 'r' : `c${i - 1}-x`, `c${i}`, done('j'));
      return one;
    });
    expect(shape(worldOf(root, ...chain))).to.have.length(MAX_TREE_DEPTH);
  });
});
