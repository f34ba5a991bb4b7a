/** The standard procedure for dependents, one and many. */
import { expect } from 'chai';
import type { View } from '../../../src/runtime/types.ts';
import { deleteBulk, reconcileBulk } from '../../../src/workflow/bulk.ts';
import {
  deleteDependent,
  desiredOf,
  reconcileDependent,
  type Bulk,
  type Dependent,
} from '../../../src/workflow/dependent.ts';
import { nodeView } from '../../../src/workflow/node.ts';
import { FakeClock } from '../../support/clock.ts';
import type { Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

const run = () => contextOn(new FakeClock());
const failureOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work();
  } catch (error) {
    return String(error);
  }
  return 'no failure';
};
const nothing = undefined as unknown as string;
const equal = { match: (a: string, b: string) => ({ matched: a === b }) };

type Single = Dependent<string, Widget>;

/** A dependent whose object is a string, and a record of its calls. */
function single(more: Partial<Single> & { readonly there?: string | undefined } = {}) {
  const calls: string[] = [];
  const { there, ...rest } = more;
  const use: Single = {
    name: 'thing',
    actual: () => Promise.resolve(there),
    desired() {
      calls.push('desired');
      return 'new';
    },
    create(desired) {
      calls.push(`create ${desired}`);
      return Promise.resolve(desired);
    },
    update(actual, desired) {
      calls.push(`update ${actual} to ${desired}`);
      return Promise.resolve(desired);
    },
    matcher: equal,
    ...rest,
  };
  return { use, calls };
}
const without = (use: Single, trait: 'create' | 'update' | 'desired' | 'matcher'): Single => {
  const { [trait]: _, ...rest } = use;
  return rest;
};

describe('the reconciliation of a dependent', () => {
  const created = { did: 'created', value: 'new' };
  const updated = { did: 'updated', value: 'new' };
  const untouched = { did: 'noop', value: 'old' };
  for (const [title, there, trait, expected, calls] of [
    ['creates a missing object', undefined, undefined, created, ['desired', 'create new']],
    ['updates a different object', 'old', undefined, updated, ['desired', 'update old to new']],
    ['does not write an equal object', 'new', undefined, { did: 'noop', value: 'new' }, ['desired']],
    [
      'updates an object that cannot be compared',
      'new',
      'matcher',
      updated,
      ['desired', 'update new to new'],
    ],
    ['does nothing for a missing object that it cannot create', undefined, 'create', { did: 'noop' }, []],
    ['does nothing for an existing object that it cannot update', 'old', 'update', untouched, []],
    ['does not write an object that is only read', 'old', 'desired', untouched, []],
  ] as const) {
    it(title, async () => {
      const { use, calls: done } = single({ there });
      const answer = await reconcileDependent(trait ? without(use, trait) : use, primary, run());
      expect(answer).to.deep.equal(expected);
      expect(done).to.deep.equal(calls);
    });
  }

  const empty = () => Promise.resolve(nothing);
  const once = '"desired" returned undefined; use a condition for an optional dependent';
  for (const [title, more, message] of [
    ['the desired state is undefined', { desired: () => nothing }, once],
    ['the desired state is null', { desired: () => null as unknown as string }, '"desired" returned null'],
    [
      'the creation returned nothing',
      { create: empty },
      '"create" returned undefined; return the current object',
    ],
    [
      'the update returned nothing',
      { update: empty, there: 'old' },
      '"update" returned undefined; return the current',
    ],
  ] as const) {
    it(`fails if ${title}`, async () => {
      const { use } = single(more);
      expect(await failureOf(() => reconcileDependent(use, primary, run()))).to.include(
        `dependent "thing" of Widget ns/a: ${message}`,
      );
    });
  }

  it('computes the desired state once in a reconcile', async () => {
    const { use, calls } = single();
    const ctx = run();
    expect(await desiredOf(use, primary, ctx)).to.equal('new');
    await reconcileDependent(use, primary, ctx);
    expect(calls).to.deep.equal(['desired', 'create new']);
    await desiredOf(use, primary, run());
    expect(calls.filter((call) => call === 'desired')).to.have.length(2);
  });

  it('returns the same failure to every caller of a reconcile', async () => {
    const { use } = single({
      desired() {
        throw new Error('cannot tell');
      },
    });
    const ctx = run();
    for (let i = 0; i < 2; i++)
      expect(await failureOf(() => desiredOf(use, primary, ctx))).to.include('cannot tell');
  });
});

describe('the deletion of a dependent', () => {
  it('is skipped if it cannot delete', async () => {
    await deleteDependent(single().use, primary, run());
  });
});

type Many = Bulk<string, Widget>;

/** A bulk dependent of strings. @param fails calls that fail */
function many(
  there: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
  more: Partial<Many> = {},
  fails: readonly string[] = [],
) {
  const calls: string[] = [];
  const call = async (what: string): Promise<void> => {
    calls.push(what);
    await Promise.resolve();
    if (fails.includes(what)) throw new Error(`cannot ${what}`);
  };
  const use: Many = {
    name: 'things',
    actualAll: () => Promise.resolve(new Map<string, View<string>>(Object.entries(there))),
    desiredAll: () => new Map(Object.entries(wanted)),
    async create(desired, _p, _ctx, id) {
      await call(`create ${String(id)}`);
      return desired;
    },
    async update(_actual, desired, _p, _ctx, id) {
      await call(`update ${String(id)}`);
      return desired;
    },
    deleteOne: (id) => call(`delete ${id}`),
    matcher: equal,
    ...more,
  };
  return { use, calls };
}
const withoutTrait = (use: Many, trait: 'create' | 'update' | 'deleteOne' | 'desiredAll'): Many => {
  const { [trait]: _, ...rest } = use;
  return rest;
};

describe('the reconciliation of a bulk dependent', () => {
  const noop = (value: string) => ({ did: 'noop', value });
  const rows: [
    string,
    Record<string, string>,
    Record<string, string>,
    string,
    Record<string, object>,
    string[],
  ][] = [
    [
      'first deletes undesired objects, and then creates and updates',
      { a: '1', b: '1', c: '1' },
      { b: '2', c: '1', d: '1' },
      'updated',
      { b: { did: 'updated', value: '2' }, c: noop('1'), d: { did: 'created', value: '1' } },
      ['delete a', 'update b', 'create d'],
    ],
    [
      'reports that something was created',
      {},
      { a: '1' },
      'created',
      { a: { did: 'created', value: '1' } },
      ['create a'],
    ],
    ['reports that nothing was done', { a: '1' }, { a: '1' }, 'noop', { a: noop('1') }, []],
    ['deletes all if none is desired', { a: '1', b: '1' }, {}, 'noop', {}, ['delete a', 'delete b']],
  ];
  for (const [title, there, wanted, did, parts, calls] of rows) {
    it(title, async () => {
      const { use, calls: done } = many(there, wanted);
      const answer = await reconcileBulk(use, primary, run());
      expect([answer.did, Object.fromEntries(answer.parts ?? [])]).to.deep.equal([did, parts]);
      expect(done).to.deep.equal(calls);
    });
  }

  for (const [trait, calls, parts] of [
    ['deleteOne', ['update b', 'create c'], ['b', 'c']],
    ['update', ['delete a', 'create c'], ['b', 'c']],
    ['create', ['delete a', 'update b'], ['b', 'c']],
    ['desiredAll', [], ['a', 'b']],
  ] as const) {
    it(`works without ${trait}`, async () => {
      const { use, calls: done } = many({ a: '1', b: '1' }, { b: '2', c: '1' });
      const answer = await reconcileBulk(withoutTrait(use, trait), primary, run());
      expect(done).to.deep.equal(calls);
      expect([...(answer.parts?.keys() ?? [])]).to.deep.equal(parts);
    });
  }

  it('tries all, and fails with the first error in the order of ids', async () => {
    const { use, calls } = many({ b: '1' }, { a: '1', b: '2', c: '1' }, {}, ['create a', 'update b']);
    expect(await failureOf(() => reconcileBulk(use, primary, run()))).to.equal('Error: cannot create a');
    expect(calls).to.deep.equal(['create a', 'update b', 'create c']);
  });

  it('creates nothing if a deletion fails, and tries all deletions', async () => {
    const { use, calls } = many({ a: '1', b: '1' }, { c: '1' }, {}, ['delete a']);
    expect(await failureOf(() => reconcileBulk(use, primary, run()))).to.equal('Error: cannot delete a');
    expect(calls).to.deep.equal(['delete a', 'delete b']);
  });

  for (const [title, more, wanted, message] of [
    [
      'the desired state is not a map',
      { desiredAll: () => nothing as unknown as Map<string, string> },
      {},
      '"desiredAll" returned undefined; return an empty map for none',
    ],
    ['one of them is undefined', {}, { a: nothing }, '"desired" returned undefined; use a condition'],
  ] as const) {
    it(`fails if ${title}`, async () => {
      const { use, calls } = many({ b: '1' }, wanted, more);
      expect(await failureOf(() => reconcileBulk(use, primary, run()))).to.include(
        `dependent "things" of Widget ns/a: ${message}`,
      );
      expect(calls).not.to.include('create a');
    });
  }
});

describe('the deletion of a bulk dependent', () => {
  it('deletes all, and fails with the first error', async () => {
    const { use, calls } = many({ a: '1', b: '1' }, { a: '1' }, {}, ['delete a']);
    expect(await failureOf(() => deleteBulk(use, primary, run()))).to.equal('Error: cannot delete a');
    expect(calls).to.deep.equal(['delete a', 'delete b']);
  });
  it('reads nothing if it cannot delete', async () => {
    const { use } = many({}, {}, { actualAll: () => expect.fail('nothing is read') });
    await deleteBulk(withoutTrait(use, 'deleteOne'), primary, run());
  });
});

describe('the objects of a node, as conditions see them', () => {
  const view = (use: Single | Many) => nodeView<Widget>(use, primary, run());
  const entries = async (use: Single | Many) => [...(await view(use).all())];
  it('are the object of a single dependent, under the name of the node', async () => {
    const { use } = single({ there: 'old' });
    expect(await view(use).actual()).to.equal('old');
    expect(await entries(use)).to.deep.equal([['thing', 'old']]);
  });
  it('are none if a single dependent has none', async () => {
    const { use } = single();
    expect(await view(use).actual()).to.equal(undefined);
    expect(await entries(use)).to.deep.equal([]);
  });
  it('are all objects of a bulk dependent, by their ids', async () => {
    const { use } = many({ a: '1', b: '2' }, {});
    expect(await view(use).actual()).to.deep.equal(new Map(Object.entries({ a: '1', b: '2' })));
    expect(await entries(use)).to.deep.equal([
      ['a', '1'],
      ['b', '2'],
    ]);
  });
  it('are none if a bulk dependent has none', async () => {
    const { use } = many({}, {});
    expect(await view(use).actual()).to.equal(undefined);
    expect(await entries(use)).to.deep.equal([]);
  });
});
