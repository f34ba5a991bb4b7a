/** Applied objects: how they are compared, and what is cached. */
import { expect } from 'chai';
import type { Obj, View } from '../../../src/runtime/types.ts';
import { appliedFields, comparableIntent, isAsApplied, ssaMatcher } from '../../../src/workflow/match-ssa.ts';
import { FakeClock } from '../../support/clock.ts';
import type { Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

type Any = Obj & Record<string, unknown>;
const ctx = contextOn(new FakeClock());
const object = (more: object, kind = 'Thing', metadata: object = {}): Any => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', ...metadata },
  ...more,
});
const entry = (fieldsV1: unknown, more: object = {}) => ({
  manager: 'widgets',
  operation: 'Apply',
  fieldsV1,
  ...more,
});
const applied = (value: object, fields: object, metadata: object = {}, kind = 'Thing'): View<Any> =>
  object(value, kind, { uid: 'u', managedFields: [entry(fields)], ...metadata });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the fields that a manager has applied', () => {
  const fields = { 'f:data': {} };
  for (const [title, managedFields, expected] of [
    ['are those of its entry', [entry({}, { manager: 'kubectl' }), entry(fields)], fields],
    ['are unknown without managed fields', undefined, undefined],
    ['are unknown in an entry without fields', [entry(undefined)], undefined],
    ['are unknown in an entry with a list of fields', [entry(['f:data'])], undefined],
  ] as const) {
    it(title, () => {
      expect(appliedFields(object({}, 'Thing', { managedFields }), 'widgets')).to.deep.equal(expected);
    });
  }
});

describe('the comparable part of an applied object', () => {
  for (const [title, intent, expected] of [
    ['has no null in lists of objects', { list: [{ a: 1, b: null }] }, { list: [{ a: 1 }] }],
    ['has no undefined fields', { a: undefined, b: { c: undefined } }, { b: {} }],
    [
      'has stringData unchanged if it is not a Secret',
      { stringData: { a: 'x' } },
      { stringData: { a: 'x' } },
    ],
  ] as const) {
    it(title, () => {
      expect(comparableIntent(object(intent))).to.deep.equal(expected);
    });
  }
  it('has the stringData of a Secret among its data', () => {
    expect(comparableIntent(object({ stringData: { a: 'x' } }, 'Secret'))).to.deep.equal({
      data: { a: base64('x') },
    });
  });
});

describe('an applied object', () => {
  const data = { 'f:data': {} };
  const match = (actual: View<Any>, wish: Any) => ssaMatcher<Any, Widget>().match(actual, wish, primary, ctx);
  it('matches a quantity that the server writes in another form', () => {
    const of = (cpu: string) => ({ resources: { limits: { cpu } } });
    expect(match(applied(of('500m'), { 'f:resources': {} }), object(of('0.5')))).to.deep.equal({
      matched: true,
    });
  });
  it('shows all paths where it differs', () => {
    const { diff } = match(applied({ data: { x: 'a', y: 'a' } }, data), object({ data: { x: 'b', y: 'b' } }));
    expect(diff).to.equal('/data/x: "a", wanted "b", /data/y: "a", wanted "b"');
  });
  it('shows no value of a Secret', () => {
    const actual = applied({ data: { x: base64('a') } }, data, {}, 'Secret');
    expect(match(actual, object({ stringData: { x: 'b' } }, 'Secret')).diff).to.equal('/data/x');
  });
});

describe('an empty list that a manager owns', () => {
  const rules = { 'f:rules': {} };
  for (const [title, actual, intent, expected] of [
    ['is present even if the server returns null', applied({ rules: null }, rules), { rules: [] }, true],
    ['is present if the server returns it', applied({ rules: [] }, rules), { rules: [] }, true],
    ['is not present if it is no longer desired', applied({ rules: null }, rules), {}, false],
    [
      'is not present if the list has elements',
      applied({ rules: null }, rules),
      { rules: [{ verbs: ['get'] }] },
      false,
    ],
    ['is not present if it is an empty object', applied({ rules: null }, rules), { rules: {} }, false],
    ['is not present if no manager owns it', applied({ rules: null }, {}), { rules: [] }, false],
    ['may be nested', applied({ a: { rules: null, b: 1 } }, { 'f:a': rules }), { a: { rules: [] } }, true],
  ] as const) {
    it(title, () => {
      expect(isAsApplied(actual, object(intent), 'widgets')).to.equal(expected);
      expect(ssaMatcher<Any, Widget>().match(actual, object(intent), primary, ctx).matched).to.equal(
        expected,
      );
    });
  }
});

describe('the cache of applied objects', () => {
  const data = { 'f:data': { 'f:x': {}, 'f:list': {} } };
  const wish = object({ data: { x: 'wished', list: ['a', 'b'] } });
  const answer = (metadata: object = {}, x = 'rewritten') =>
    applied({ data: { x, list: ['a', 'b'] } }, data, metadata) as Any;
  const matched = (matcher: ReturnType<typeof ssaMatcher<Any, Widget>>, actual: View<Any>, wanted = wish) =>
    matcher.match(actual, wanted, primary, ctx).matched;

  it('recognizes the same desired state whatever the order of its fields', () => {
    const matcher = ssaMatcher<Any, Widget>();
    matcher.remember(wish, answer(), 'widgets');
    expect(matched(matcher, answer(), object({ data: { list: ['a', 'b'], x: 'wished' } }))).to.equal(true);
    expect(matched(matcher, answer(), object({ data: { list: ['b', 'a'], x: 'wished' } }))).to.equal(false);
  });
  it('has nothing about another object of the same name', () => {
    const matcher = ssaMatcher<Any, Widget>();
    matcher.remember(wish, answer(), 'widgets');
    expect(matched(matcher, answer({ uid: 'v' }))).to.equal(false);
  });
  for (const [title, metadata] of [
    ['has no uid', { uid: undefined }],
    ['does not contain the applied fields', { managedFields: [] }],
  ] as const) {
    it(`stores nothing about a response that ${title}`, () => {
      const matcher = ssaMatcher<Any, Widget>();
      matcher.remember(wish, answer(metadata), 'widgets');
      expect(matched(matcher, answer(metadata))).to.equal(false);
    });
  }
  it('has no verdict about an object without a uid', () => {
    const matcher = ssaMatcher<Any, Widget>();
    const nameless = (x: string) => answer({ uid: undefined, resourceVersion: '7' }, x);
    expect(matched(matcher, nameless('wished'))).to.equal(true);
    expect(matched(matcher, nameless('changed'))).to.equal(false);
  });
  it('has no verdict about a version that did not match', () => {
    const matcher = ssaMatcher<Any, Widget>();
    const versioned = answer({ resourceVersion: '7' });
    expect([matched(matcher, versioned), matched(matcher, versioned)]).to.deep.equal([false, false]);
  });

  it('drops the object that was applied the longest time ago', () => {
    const matcher = ssaMatcher<Any, Widget>(2);
    const of = (uid: string) => answer({ uid });
    const remember = (uid: string): void => matcher.remember(wish, of(uid), 'widgets');
    remember('a');
    remember('b');
    expect(matched(matcher, of('a')), 'while there is room').to.equal(true);
    remember('a');
    remember('c');
    expect(['a', 'b', 'c'].filter((uid) => matched(matcher, of(uid)))).to.deep.equal(['a', 'c']);
  });
});
