import { expect } from 'chai';
import {
  admits,
  and,
  annotationsChanged,
  defaultPredicate,
  deletionStarted,
  finalizerMissing,
  generationChanged,
  labelsChanged,
  not,
  objectsThat,
  notObserved,
  observedGenerationOf,
  or,
  resourceVersionChanged,
  type Predicate,
} from '../../../../src/runtime/sources/filters.ts';
import type { Change, Obj, View } from '../../../../src/runtime/types.ts';
import { objectOf } from '../support/source-host.ts';

const old = objectOf('A/1', { resourceVersion: '1' });
const obj = objectOf('A/1', { resourceVersion: '2' });
const changes: Readonly<Record<Change<Obj>['type'], Change<Obj>>> = {
  add: { type: 'add', obj, initial: true },
  update: { type: 'update', old, obj, relisted: false },
  delete: { type: 'delete', obj, finalStateUnknown: false },
};
const always = (answer: boolean): Predicate => ({
  add: () => answer,
  update: () => answer,
  delete: () => answer,
  generic: () => answer,
});
/** What a predicate says to an add, an update, a deletion and a generic event. */
const answersOf = (predicate: Predicate): readonly (boolean | undefined)[] => [
  ...Object.values(changes).map((change) => admits(predicate, change)),
  predicate.generic?.('A/1'),
];

describe('a predicate', () => {
  it('admits what it has no method for', () => {
    expect(answersOf({})).to.deep.equal([true, true, true, undefined]);
  });

  it('can be about objects, whatever happens to them', () => {
    const isNew = objectsThat(({ metadata }) => metadata.resourceVersion === '2');
    expect(answersOf(isNew)).to.deep.equal([true, true, true, undefined]);
    expect(answersOf(not(isNew)).slice(0, 3)).to.deep.equal([false, false, false]);
    expect(admits(isNew, { type: 'update', old: obj, obj: old, relisted: false })).to.equal(false);
  });

  for (const answer of [true, false])
    it(`has the last word if it has methods (${String(answer)})`, () => {
      expect(answersOf(always(answer))).to.deep.equal(Array(4).fill(answer));
    });

  it('is given what has changed', () => {
    const given: unknown[] = [];
    const note = (...args: readonly unknown[]): boolean => given.push(args) > 0;
    const noting: Predicate = { add: note, update: note, delete: note, generic: note };
    const combinations = [noting, and(noting), or(noting), not(noting)];
    for (const combination of combinations) answersOf(combination);
    const once = [[obj, true], [old, obj], [obj], ['A/1']];
    expect(given).to.deep.equal([...once, ...once, ...once, ...once]);
  });

  const [yes, no, silent] = [always(true), always(false), {}];
  const rows: readonly (readonly [string, Predicate, boolean])[] = [
    ['all of two admit it', and(yes, yes), true],
    ['one of all refuses', and(yes, no), false],
    ['all have no opinion', and(silent, silent), true],
    ['one admits and one has no opinion', and(silent, yes), true],
    ['one refuses and one has no opinion', and(silent, no), false],
    ['one of two admits it', or(no, yes), true],
    ['both of two refuse', or(no, no), false],
    ['one of two has no opinion', or(no, silent), true],
    ['none of none admits it', or(), false],
    ['the other refuses', not(no), true],
    ['the other admits it', not(yes), false],
    ['the other has no opinion', not(silent), false],
  ];
  for (const [title, predicate, expected] of rows)
    it(`${expected ? 'admits' : 'refuses'} everything when ${title}`, () => {
      expect(answersOf(predicate)).to.deep.equal(Array(4).fill(expected));
    });
});

describe('the predicates of metadata', () => {
  const updated = (predicate: Predicate, before: View<Obj>, after: View<Obj>): boolean =>
    admits(predicate, { type: 'update', old: before, obj: after, relisted: false });
  const isAdded = (predicate: Predicate, after: View<Obj>): boolean =>
    admits(predicate, { type: 'add', obj: after, initial: false });

  for (const [field, predicate] of [
    ['labels', labelsChanged],
    ['annotations', annotationsChanged],
  ] as const) {
    const having = (values?: object): View<Obj> => objectOf('A/1', values && { [field]: values });
    const rows: readonly (readonly [string, View<Obj>, View<Obj>, boolean])[] = [
      ['are other ones', having({ a: '1' }), having({ a: '2' }), true],
      ['are the same', having({ a: '1' }), having({ a: '1' }), false],
      ['are the first', having(), having({ a: '1' }), true],
      ['are gone', having({ a: '1' }), having(), true],
      ['are still missing', having(), having(), false],
      ['become an empty list', having(), having({}), false],
      ['were an empty list', having({}), having(), false],
    ];
    for (const [title, before, after, expected] of rows)
      it(`${expected ? 'admit' : 'refuse'} ${field} that ${title}`, () => {
        expect(updated(predicate, before, after)).to.equal(expected);
      });
  }

  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const deleted = objectOf('A/1', { deletionTimestamp });
  const generation = (value?: number): View<Obj> => objectOf('A/1', { generation: value });
  const updateRows: readonly (readonly [string, Predicate, View<Obj>, View<Obj>, boolean])[] = [
    ['of the same generation', generationChanged, generation(1), generation(1), false],
    ['of a later generation', generationChanged, generation(1), generation(2), true],
    ['of a kind without generations', generationChanged, generation(), generation(), true],
    ['of the same version', resourceVersionChanged, old, old, false],
    ['of another version', resourceVersionChanged, old, obj, true],
    ['that begins the deletion', deletionStarted, old, deleted, true],
    ['in the course of the deletion', deletionStarted, deleted, deleted, false],
    ['without a deletion', deletionStarted, old, obj, false],
  ];
  for (const [title, predicate, before, after, expected] of updateRows)
    it(`${expected ? 'admit' : 'refuse'} an update ${title}`, () => {
      expect(updated(predicate, before, after)).to.equal(expected);
    });

  it('admit an object that is being deleted when it is first seen, and no other', () => {
    expect([isAdded(deletionStarted, deleted), isAdded(deletionStarted, old)]).to.deep.equal([true, false]);
  });

  const finalizerRows: readonly (readonly [string, View<Obj>, boolean])[] = [
    ['has no finalizers', objectOf('A/1'), true],
    ['has another finalizer', objectOf('A/1', { finalizers: ['y'] }), true],
    ['has the finalizer', objectOf('A/1', { finalizers: ['y', 'x'] }), false],
    ['is being deleted', objectOf('A/1', { deletionTimestamp }), false],
  ];
  for (const [title, object, expected] of finalizerRows)
    it(`${expected ? 'miss' : 'do not miss'} the finalizer of an object that ${title}`, () => {
      const predicate = finalizerMissing('x');
      expect([isAdded(predicate, object), updated(predicate, old, object)]).to.deep.equal([
        expected,
        expected,
      ]);
    });

  const observedRows: readonly (readonly [string, number | undefined, number | undefined, boolean])[] = [
    ['without a generation', undefined, undefined, true],
    ['without a generation that was observed', undefined, 3, true],
    ['that was never observed', 1, undefined, true],
    ['of a later generation', 4, 3, true],
    ['of the same generation', 4, 4, false],
    ['of an earlier generation', 3, 4, false],
  ];
  for (const [title, latest, observedGeneration, expected] of observedRows)
    it(`${expected ? 'admit' : 'refuse'} an object ${title}`, () => {
      const status = observedGeneration === undefined ? {} : { status: { observedGeneration } };
      const object: View<Obj> = { ...generation(latest), ...status };
      expect([isAdded(notObserved, object), updated(notObserved, old, object)]).to.deep.equal([
        expected,
        expected,
      ]);
      expect(observedGenerationOf(object)).to.equal(observedGeneration ?? 0);
    });
});

describe('what a controller admits by default', () => {
  const fresh = objectOf('A/1', { generation: 2, finalizers: ['x'] });
  const observed = { ...fresh, status: { observedGeneration: 2 } };
  const update = (before: View<Obj>, after: View<Obj>): Change<Obj> => ({
    type: 'update',
    old: before,
    obj: after,
    relisted: false,
  });
  const without = { ...observed, metadata: { ...observed.metadata, finalizers: [] } };
  const rows: readonly (readonly [
    string,
    'status' | 'memory' | 'off',
    string | undefined,
    Change<Obj>,
    boolean,
  ])[] = [
    ['a status that is behind', 'status', 'x', update(observed, fresh), true],
    ['a status that is not', 'status', 'x', update(fresh, observed), false],
    ['the same generation', 'memory', 'x', update(fresh, fresh), false],
    ['the first sight of an object', 'memory', undefined, { type: 'add', obj: fresh, initial: true }, true],
    [
      'another generation',
      'memory',
      'x',
      update(objectOf('A/1', { generation: 1, finalizers: ['x'] }), fresh),
      true,
    ],
    ['a missing finalizer', 'memory', 'x', update(without, without), true],
    ['a missing finalizer', 'status', 'x', update(observed, without), true],
    ['no missing finalizer if it keeps none', 'status', undefined, update(observed, without), false],
    ['any change with generations off', 'off', 'x', update(observed, observed), true],
  ];
  for (const [title, mode, finalizer, change, expected] of rows)
    it(`${expected ? 'is' : 'is not'} ${title} (${mode})`, () => {
      expect(admits(defaultPredicate(mode, finalizer), change)).to.equal(expected);
    });
});
