import { expect } from 'chai';
import type { LandscapeRow, Part, TimelineRow } from '../../../src/cli/console/wire.ts';
import { landscapeUrl, viewOf, withQuery } from '../../../web/console/addresses.ts';
import { barsOf, isExplained } from '../../../web/console/bars.ts';
import { changedItems } from '../../../web/console/changes.ts';
import { counted, durationText } from '../../../web/console/format.ts';
import { indexAfter } from '../../../web/console/keys.ts';
import { filterList, namespacesIn } from '../../../web/console/list-filter.ts';
import { afterKey, treeRows } from '../../../web/console/tree-model.ts';

describe('addresses of the console', () => {
  const paths: readonly (readonly [path: string, view: object])[] = [
    ['/', { name: 'list' }],
    ['/flow', { name: 'flow' }],
    ['/landscapes/a/b', { name: 'landscape', id: 'a/b', tab: 'tree' }],
    ['/landscapes/a/b/jobs', { name: 'landscape', id: 'a/b', tab: 'jobs' }],
    ['/landscapes/a/b/other', { name: 'unknown' }],
    ['/landscapes/a', { name: 'unknown' }],
    ['/landscapes//b', { name: 'unknown' }],
    ['/landscapes/a/', { name: 'unknown' }],
    ['/landscapes/a/b/jobs/1', { name: 'unknown' }],
    ['/landscape/a/b', { name: 'unknown' }],
    ['/landscapes/a%2Fb/c', { name: 'landscape', id: 'a/b/c', tab: 'tree' }],
    ['/flow/a', { name: 'unknown' }],
    ['/flow/a/b', { name: 'unknown' }],
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

  it('ignores spaces around words, and finds marks', () => {
    expect(ids({ search: '  db ' })).to.deep.equal(['a/db']);
    expect(filterList([row('a/x', { marks: ['Suspended'] })], { ...all, search: 'suspend' }).total).to.equal(
      1,
    );
  });

  it('sorts each state by namespace and name', () => {
    const sorted = filterList([row('a/2'), row('b/1'), row('a/1')], all);
    expect(sorted.rows.map(({ id }) => id)).to.deep.equal(['a/1', 'a/2', 'b/1']);
  });

  it('offers each namespace once, in order', () => {
    expect(namespacesIn([row('b/x'), row('a/x'), row('b/y')])).to.deep.equal(['a', 'b']);
  });

  it('keeps an item that is deleted and created in one change', () => {
    const next = changedItems(new Map([['a/x', row('a/x')]]), {
      set: [row('a/x', { parts: 2 })],
      gone: ['a/x'],
    });
    expect(next.get('a/x')?.parts).to.equal(2);
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

describe('rows in the tree of the console', () => {
  const none: ReadonlySet<string> = new Set();
  const rowsOf = (parts: readonly Part[], onlyOpen = false) =>
    treeRows(new Map(parts.map((each) => [each.id, each])), { toggled: none, onlyOpen });
  const ids = (parts: readonly Part[]): readonly string[] =>
    rowsOf(parts, true).map(({ part: { id } }) => id);

  it('have their position among their siblings, and know whether they are open', () => {
    const [root, a, b] = rowsOf([part('root', ''), part('a', 'root'), part('b', 'root', { at: 1 })]);
    expect(root).to.include({ level: 1, position: 1, siblings: 1, hasChildren: true, isOpen: true });
    expect(a).to.include({ level: 2, position: 1, siblings: 2, hasChildren: false, isOpen: false });
    expect(b).to.include({ level: 2, position: 2, siblings: 2 });
  });

  for (const [count, isOpen] of [
    [200, true],
    [201, false],
  ] as const)
    it(`of objects on targets are ${isOpen ? 'shown' : 'hidden'} at first with ${count} parts`, () => {
      const objects = Array.from({ length: count - 2 }, (_, i) =>
        part(`o${i}`, 'item', { kind: 'Object', at: i }),
      );
      const [root, item] = rowsOf([
        part('root', ''),
        part('item', 'root', { kind: 'DeployItem' }),
        ...objects,
      ]);
      expect(root?.isOpen).to.equal(true);
      expect(item?.isOpen).to.equal(isOpen);
    });

  const why = { summary: 's', holders: [], next: [] };
  const kept: readonly (readonly [title: string, part: Partial<Part>, isKept: boolean])[] = [
    ['failed', { condition: 'failed' }, true],
    ['running', { condition: 'running' }, true],
    ['waiting', { condition: 'waiting' }, true],
    ['ready', {}, false],
    ['ready, but have a reason', { why }, true],
  ];
  for (const [title, more, isKept] of kept)
    it(`${isKept ? 'are shown' : 'are hidden'} among those that are not ready if they are ${title}`, () => {
      expect(ids([part('root', ''), part('a', 'root', more)])).to.deep.equal(isKept ? ['root', 'a'] : []);
    });

  it('of objects on targets, which have no state, are hidden among those that are not ready', () => {
    const { condition: _, ...object } = part('o', 'a', { kind: 'Object' });
    expect(ids([part('root', ''), part('a', 'root', { condition: 'failed' }), object])).to.deep.equal([
      'root',
      'a',
    ]);
  });

  it('use no other keys, and ignore those that have no effect', () => {
    const [closed] = [rowsOf([part('root', '')])];
    expect(afterKey('ArrowRight', closed, 0)).to.deep.equal({});
    expect(afterKey('ArrowLeft', closed, 0)).to.deep.equal({});
    expect(afterKey('ArrowRight', closed, 5)).to.deep.equal({});
    expect(afterKey('Enter', rowsOf([part('root', ''), part('a', 'root')]), 1)).to.deep.equal({});
    expect(afterKey('Enter', rowsOf([part('root', ''), part('a', 'root')]), 0)).to.deep.equal({});
  });
});

describe('keys of lists in the console', () => {
  const cases: readonly (readonly [key: string, index: number, expected: number | undefined])[] = [
    ['ArrowDown', 0, 1],
    ['ArrowDown', 39, 39],
    ['ArrowUp', 5, 4],
    ['ArrowUp', 0, 0],
    ['PageDown', 10, 25],
    ['PageDown', 30, 39],
    ['PageUp', 20, 5],
    ['PageUp', 3, 0],
    ['Home', 20, 0],
    ['End', 20, 39],
    ['Tab', 20, undefined],
  ];
  for (const [key, index, expected] of cases)
    it(`lead from row ${index} to ${expected ?? 'no row'}: ${key}`, () => {
      expect(indexAfter(key, index, 40)).to.equal(expected);
    });

  it('stay at 0 in an empty list', () => {
    expect(['ArrowDown', 'End', 'Home'].map((key) => indexAfter(key, 0, 0))).to.deep.equal([0, 0, 0]);
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

describe('a bar in the timeline of the console', () => {
  const span = { start: 100, end: 200 };
  const bars = (more: Partial<TimelineRow>) =>
    barsOf(
      { kind: 'DeployItem', title: 't', depth: 1, phase: '', waitedFor: [], error: '', ...more },
      span,
    ).map(({ kind, left, width }) => [kind, left, width]);
  const cases: readonly (readonly [title: string, row: Partial<TimelineRow>, bars: readonly unknown[]])[] = [
    ['starts with the job at the earliest', { triggeredAt: 50, endedAt: 150 }, [['working', 0, 50]]],
    ['ends with the job at the latest', { triggeredAt: 150, endedAt: 250 }, [['working', 50, 50]]],
    ['is never too short to see', { triggeredAt: 150, endedAt: 150 }, [['working', 50, 0.5]]],
    ['stays in the picture if it starts at the end', { triggeredAt: 200 }, [['working', 99.5, 0.5]]],
    [
      'has no wait before its start',
      { triggeredAt: 150, waitedAt: 120, endedAt: 200 },
      [['waiting', 50, 50]],
    ],
    ['has no wait after its end', { triggeredAt: 150, waitedAt: 190, endedAt: 170 }, [['working', 50, 20]]],
    [
      'of an item that waited shows work first',
      { triggeredAt: 100, waitedAt: 150, endedAt: 200, waitedFor: ['db'] },
      [
        ['working', 0, 50],
        ['waiting', 50, 50],
      ],
    ],
    [
      'of an installation without predecessors shows work first',
      { kind: 'Installation', triggeredAt: 100, waitedAt: 150, endedAt: 200 },
      [
        ['working', 0, 50],
        ['waiting', 50, 50],
      ],
    ],
  ];
  for (const [title, row, expected] of cases)
    it(title, () => {
      expect(bars(row)).to.deep.equal(expected);
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
    expect(
      isExplained(
        [
          { depth: 0, error: 'x' },
          { depth: 1, error: '' },
        ],
        0,
      ),
    ).to.equal(false);
  });
});

describe('the last error in the timeline of the console', () => {
  it('is not explained by that of a sibling after it', () => {
    const rows = [
      { depth: 1, error: 'no such import' },
      { depth: 1, error: 'no space left' },
    ];
    expect(rows.map((_, i) => isExplained(rows, i))).to.deep.equal([false, false]);
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
