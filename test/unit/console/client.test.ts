import { expect } from 'chai';
import type { LandscapeRow, Part, TimelineRow } from '../../../src/cli/console/wire.ts';
import { landscapeUrl, viewOf, withQuery } from '../../../web/console/addresses.ts';
import { barsOf, isExplained } from '../../../web/console/bars.ts';
import { changedItems } from '../../../web/console/changes.ts';
import { counted, durationText } from '../../../web/console/format.ts';
import { filterList } from '../../../web/console/list-filter.ts';
import { afterKey, treeRows } from '../../../web/console/tree-model.ts';

describe('addresses of the console', () => {
  const paths: readonly (readonly [path: string, view: object])[] = [
    ['/', { name: 'list' }],
    ['/flow', { name: 'flow' }],
    ['/landscapes/a/b', { name: 'landscape', id: 'a/b', tab: 'tree' }],
    ['/landscapes/a/b/jobs', { name: 'landscape', id: 'a/b', tab: 'jobs' }],
    ['/landscapes/a/b/other', { name: 'unknown' }],
    ['/landscapes/a', { name: 'unknown' }],
    ['/%E0', { name: 'unknown' }],
  ];
  for (const [path, view] of paths)
    it(`mean a view: ${path}`, () => {
      expect(viewOf(path)).to.deep.equal(view);
    });

  it('are read as they were written', () => {
    expect(viewOf(landscapeUrl('a/b', 'flow'))).to.deep.equal({ name: 'landscape', id: 'a/b', tab: 'flow' });
    expect(landscapeUrl('a/b', 'tree', { part: 'Installation/a/b', only: '' })).to.equal(
      '/landscapes/a/b?part=Installation%2Fa%2Fb',
    );
    expect(withQuery('/', {})).to.equal('/');
    expect(withQuery('/log?pod=a', { after: '' })).to.equal('/log?pod=a');
    expect(withQuery('/log?pod=a', { after: 'b:c' })).to.equal('/log?pod=a&after=b%3Ac');
  });
});

const row = (id: string, more: Partial<LandscapeRow> = {}): LandscapeRow => ({
  id,
  namespace: id.split('/')[0] ?? '',
  name: id.split('/')[1] ?? '',
  phase: 'Succeeded',
  condition: 'succeeded',
  marks: [],
  note: '',
  parts: 0,
  failed: 0,
  running: 0,
  ...more,
});

describe('the list of the console', () => {
  const rows = [
    row('b/web'),
    row('a/web'),
    row('a/db', { condition: 'failed', phase: 'Failed', note: 'the quota is exhausted' }),
  ];
  const all = { search: '', condition: '', namespace: '' };
  const ids = (filter: Partial<typeof all>) =>
    filterList(rows, { ...all, ...filter }).rows.map(({ id }) => id);

  it('shows failed landscapes first', () => {
    expect(ids({})).to.deep.equal(['a/db', 'a/web', 'b/web']);
  });

  it('finds all words in names, namespaces, phases and messages', () => {
    expect(ids({ search: 'WEB a' })).to.deep.equal(['a/web']);
    expect(ids({ search: 'quota failed' })).to.deep.equal(['a/db']);
    expect(ids({ search: 'nothing' })).to.deep.equal([]);
  });

  it('counts the states that the other filters leave', () => {
    const list = filterList(rows, { ...all, namespace: 'a', condition: 'failed' });
    expect(list.rows).to.have.length(1);
    expect(list.counts).to.include({ failed: 1, succeeded: 1 });
    expect(list.total).to.equal(2);
  });

  it('applies changes', () => {
    const items = new Map(rows.map((each) => [each.id, each]));
    const next = changedItems(items, { set: [row('c/x')], gone: ['a/db'] });
    expect([...next.keys()]).to.deep.equal(['b/web', 'a/web', 'c/x']);
    expect(items.size).to.equal(3);
  });
});

const part = (id: string, parent: string, more: Partial<Part> = {}): Part => ({
  id,
  parent,
  at: 0,
  kind: 'Installation',
  namespace: 'n',
  name: id,
  title: id,
  phase: 'Succeeded',
  condition: 'succeeded',
  marks: [],
  note: '',
  warnings: [],
  facts: [],
  ...more,
});

describe('the tree of the console', () => {
  const parts = new Map(
    [
      part('b', 'root', { at: 1, condition: 'failed', phase: 'Failed' }),
      part('a', 'root'),
      part('item', 'a', { kind: 'DeployItem' }),
      part('root', '', { condition: 'failed' }),
    ].map((each) => [each.id, each]),
  );
  const rows = (toggled: readonly string[] = [], onlyOpen = false) =>
    treeRows(parts, { toggled: new Set(toggled), onlyOpen });

  it('shows parts below their parents, in order', () => {
    expect(rows().map(({ part: { id }, level }) => `${level} ${id}`)).to.deep.equal([
      '1 root',
      '2 a',
      '3 item',
      '2 b',
    ]);
  });

  it('hides what is below a closed part', () => {
    expect(rows(['a']).map(({ part: { id } }) => id)).to.deep.equal(['root', 'a', 'b']);
  });

  it('shows what is not ready with its parents', () => {
    expect(rows([], true).map(({ part: { id } }) => id)).to.deep.equal(['root', 'b']);
  });

  it('moves, opens and closes with the arrow keys', () => {
    const all = rows();
    expect(afterKey('ArrowDown', all, 0)).to.deep.equal({ select: 'a' });
    expect(afterKey('ArrowRight', all, 1)).to.deep.equal({ select: 'item' });
    expect(afterKey('ArrowLeft', all, 1)).to.deep.equal({ open: 'a' });
    expect(afterKey('ArrowLeft', all, 2)).to.deep.equal({ select: 'a' });
    expect(afterKey('ArrowRight', rows(['a']), 1)).to.deep.equal({ open: 'a' });
    expect(afterKey('End', all, 0)).to.deep.equal({ select: 'b' });
    expect(afterKey('x', all, 0)).to.deep.equal({});
  });
});

describe('the timeline of the console', () => {
  const span = { start: 0, end: 100 };
  const line = (more: Partial<TimelineRow>): TimelineRow => ({
    kind: 'DeployItem',
    title: 't',
    depth: 1,
    phase: 'Succeeded',
    waitedFor: [],
    error: '',
    ...more,
  });

  it('draws work before the wait for objects below', () => {
    expect(barsOf(line({ triggeredAt: 10, waitedAt: 30, endedAt: 90 }), span)).to.deep.equal([
      { kind: 'working', left: 10, width: 20 },
      { kind: 'waiting', left: 30, width: 60 },
    ]);
  });

  it('draws the wait of an installation for its predecessors first', () => {
    const row = line({ kind: 'Installation', triggeredAt: 0, waitedAt: 50, endedAt: 100, waitedFor: ['db'] });
    expect(barsOf(row, span).map(({ kind }) => kind)).to.deep.equal(['waiting', 'working']);
  });

  it('draws running parts to the end, and no parts that have not started', () => {
    expect(barsOf(line({ triggeredAt: 40 }), span)).to.deep.equal([{ kind: 'working', left: 40, width: 60 }]);
    expect(barsOf(line({}), span)).to.deep.equal([]);
  });
});

describe('an error in the timeline of the console', () => {
  it('is explained by that of a part below', () => {
    const rows = [
      { depth: 0, error: 'children failed' },
      { depth: 1, error: 'items failed' },
      { depth: 2, error: 'no space left' },
      { depth: 1, error: 'no such import' },
    ];
    expect(rows.map((_, i) => isExplained(rows, i))).to.deep.equal([true, true, false, false]);
  });
});

describe('numbers in the console', () => {
  it('are grouped by thousands', () => {
    expect([0, 1, 999, 1_000, 5_000, 1_234_567].map((count) => counted(count, 'row'))).to.deep.equal([
      '0 rows',
      '1 row',
      '999 rows',
      '1,000 rows',
      '5,000 rows',
      '1,234,567 rows',
    ]);
  });
});

describe('durations in the console', () => {
  it('are as short as on the command line', () => {
    expect([0, 59_000, 200_000, 7_500_000, 360_000_000].map(durationText)).to.deep.equal([
      '0s',
      '59s',
      '3m20s',
      '2h5m',
      '4d4h',
    ]);
  });
});
