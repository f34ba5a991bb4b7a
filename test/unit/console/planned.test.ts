/** Plans in the console: in which group an item is, and the words of the summary. */
import { expect } from 'chai';
import type { Plan, PlannedItem, PlannedObject } from '../../../src/cli/console/wire.ts';
import { groupsOf, isUnchanged, summaryWords, valueText } from '../../../web/console/planned.ts';

const object = (more: Partial<PlannedObject> = {}): PlannedObject => ({
  change: 'unchanged',
  kind: 'ConfigMap',
  name: 'c',
  ...more,
});
const item = (more: Partial<PlannedItem> = {}): PlannedItem => ({
  path: 'shop',
  type: 'manifest',
  state: 'same',
  isKnown: true,
  objects: [object()],
  notes: [],
  ...more,
});
const nothing = { create: 0, change: 0, delete: 0, unchanged: 0, kept: 0, unknown: 0, problems: 0 };
const plan = (items: readonly PlannedItem[], summary: Partial<Plan['summary']> = {}): Plan => ({
  items,
  problems: [],
  summary: { ...nothing, ...summary },
});

describe('an item of a plan', () => {
  const changed = object({ change: 'change' });
  const rows: readonly (readonly [title: string, item: Partial<PlannedItem>, group: string])[] = [
    ['is new', { state: 'new' }, 'changed'],
    ['has changed', { state: 'changed' }, 'changed'],
    ['is gone', { state: 'gone' }, 'changed'],
    ['stays the same', {}, 'unchanged'],
    ['has nothing to do', { state: 'idle' }, 'unchanged'],
    ['keeps an object', { objects: [object({ change: 'kept' })] }, 'unchanged'],
    ['has one object of two that differs', { objects: [object(), changed] }, 'drifted'],
    ['has an object with a problem', { objects: [object({ problem: 'forbidden' })] }, 'drifted'],
    ['has a problem', { problem: 'no target' }, 'drifted'],
    ['is not known', { isKnown: false }, 'drifted'],
    ['has a note', { notes: ['hooks run'] }, 'drifted'],
    ['is skipped', { state: 'changed', drift: { objects: [changed] } }, 'skipped'],
  ];
  for (const [title, more, group] of rows)
    it(`that ${title} is in the group ${group}`, () => {
      const groups = Object.entries(groupsOf(plan([item(more)]))) as [string, readonly PlannedItem[]][];
      expect(groups.filter(([, { length }]) => length > 0).map(([name]) => name)).to.deep.equal([group]);
    });

  it('that is skipped has the objects and the problem of its drift', () => {
    const drift = { objects: [changed], problem: 'cannot read one' };
    const [skipped] = groupsOf(plan([item({ path: 'db', drift })])).skipped;
    expect(skipped).to.deep.equal({ ...item({ path: 'db' }), ...drift });
  });
});

describe('an object of a plan', () => {
  it('is unchanged only without a problem', () => {
    const changes = ['unchanged', 'kept', 'create', 'change', 'delete'] as const;
    expect(changes.filter((change) => isUnchanged(object({ change })))).to.deep.equal(['unchanged', 'kept']);
    expect(changes.filter((change) => isUnchanged(object({ change, problem: 'x' })))).to.deep.equal([]);
  });
});

describe('the summary of a plan', () => {
  const drift = { objects: [object(), object()] };
  const rows: readonly (readonly [words: string, plan: Plan])[] = [
    ['nothing to change, 0 objects unchanged', plan([])],
    ['nothing to change, 1 object unchanged', plan([item()], { unchanged: 1 })],
    ['nothing to change, 3 objects unchanged', plan([], { unchanged: 1, kept: 2 })],
    [
      '1 to create, 2 to change, 3 to delete, 4 not known, 5 would fail, 0 objects unchanged',
      plan([], { create: 1, change: 2, delete: 3, unknown: 4, problems: 5 }),
    ],
    [
      '2 to change, 1 differs and stays, 0 objects unchanged',
      plan([item({ drift: { objects: [object()] } })], { change: 2 }),
    ],
    [
      'nothing to change, 4 differ and stay, 0 objects unchanged',
      plan([item({ drift }), item({ drift }), item()]),
    ],
  ];
  for (const [words, given] of rows)
    it(`is: ${words}`, () => {
      expect(summaryWords(given)).to.equal(words);
    });
});

describe('a value of a plan', () => {
  it('is shown as JSON, and lines as they are', () => {
    const values = ['a', 'a\nb', 1, null, { a: 'x\ny' }];
    expect(values.map(valueText)).to.deep.equal(['"a"', 'a\nb', '1', 'null', '{"a":"x\\ny"}']);
  });
});
