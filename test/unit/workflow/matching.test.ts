import { expect } from 'chai';
import { exactJson } from '../../../src/lib/exact-json.ts';
import { copy } from '../../../src/lib/json.ts';
import type { Obj, View } from '../../../src/runtime/types.ts';
import { select, type FieldSet } from '../../../src/workflow/field-set.ts';
import {
  equalMatcher,
  genericMatcher,
  rememberingMatcher,
  type GenericMatch,
} from '../../../src/workflow/match-generic.ts';
import { comparableIntent, ssaMatcher } from '../../../src/workflow/match-ssa.ts';
import { matcherOf } from '../../../src/workflow/matching.ts';
import { FakeClock } from '../../support/clock.ts';
import { parts, type Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

type Any = Obj & Record<string, unknown>;
const ctx = contextOn(new FakeClock());
/** An integer that JSON of JavaScript would round. */
const LONG = 9_007_199_254_740_993n;
const object = (more: object, metadata: object = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
  ...more,
});

describe('the generic matcher', () => {
  const rows: [string, object, object, GenericMatch | undefined, boolean][] = [
    [
      'RUN-59: accepts a default that was added',
      { spec: { a: 1, added: 2 } },
      { spec: { a: 1 } },
      undefined,
      true,
    ],
    ['RUN-59: detects a changed value', { spec: { a: 2 } }, { spec: { a: 1 } }, undefined, false],
    ['detects a missing value', { spec: {} }, { spec: { a: 1 } }, undefined, false],
    ['RUN-59: accepts a shortened list', { list: [1, 2] }, { list: [1] }, undefined, true],
    [
      'RUN-59: detects a shortened list in strict mode',
      { list: [1, 2] },
      { list: [1] },
      { values: 'equal' },
      false,
    ],
    ['detects an added value in strict mode', { a: 1, b: 2 }, { a: 1 }, { values: 'equal' }, false],
    ['detects a list in another order', { list: [2, 1] }, { list: [1, 2] }, undefined, false],
    ['ignores the status', { status: { x: 1 } }, { status: { x: 2 } }, undefined, true],
    [
      'ignores the configured paths',
      { spec: { a: 2, b: 1 } },
      { spec: { a: 1, b: 1 } },
      { ignore: ['/spec/a'] },
      true,
    ],
    [
      'ignores only those',
      { spec: { a: 2, b: 2 } },
      { spec: { a: 1, b: 1 } },
      { ignore: ['/spec/a'] },
      false,
    ],
  ];
  for (const [title, actual, desired, how, matched] of rows) {
    it(title, () => {
      const matcher = genericMatcher<Any, Widget>(how);
      expect(matcher.match(object(actual), object(desired), primary, ctx).matched).to.equal(matched);
    });
  }

  const metadata: [string, object, object, GenericMatch['metadata'], boolean][] = [
    ['a changed label with ignore', { labels: { a: '2' } }, { labels: { a: '1' } }, 'ignore', true],
    ['no changed label with subset', { labels: { a: '2' } }, { labels: { a: '1' } }, 'subset', false],
    [
      'an extra annotation with subset',
      { annotations: { a: '1', b: '2' } },
      { annotations: { a: '1' } },
      'subset',
      true,
    ],
    [
      'no extra annotation with equal',
      { annotations: { a: '1', b: '2' } },
      { annotations: { a: '1' } },
      'equal',
      false,
    ],
    ['other metadata always', { uid: 'u', generation: 2 }, {}, 'equal', true],
  ];
  for (const [what, actual, desired, how, matched] of metadata) {
    it(`RUN-59: accepts ${what}`, () => {
      const matcher = genericMatcher<Any, Widget>({ metadata: how ?? 'ignore' });
      const answer = matcher.match(object({}, actual), object({}, desired), primary, ctx);
      expect(answer.matched).to.equal(matched);
    });
  }

  it('is either strict or ignores paths', () => {
    expect(() => genericMatcher({ values: 'equal', ignore: ['/a'] })).to.throw('choose one of them');
    expect(() => genericMatcher({ ignore: ['spec.a'] })).to.throw('"spec.a" is not a JSON pointer');
  });

  it('reports the differences, and nothing of a Secret', () => {
    const matcher = genericMatcher<Any, Widget>();
    const diff = (kind: string) =>
      matcher.match(
        object({ kind, data: { 'a/b': 'old' } }),
        object({ kind, data: { 'a/b': 'new' } }),
        primary,
        ctx,
      ).diff;
    expect(diff('ConfigMap')).to.equal('/data/a~1b: "old", wanted "new"');
    expect(diff('Secret')).to.equal('/data/a~1b');
  });

  it('counts the differences that it does not report', () => {
    const many = (value: number) => object({ list: Array.from({ length: 15 }, () => value) });
    const { diff } = genericMatcher<Any, Widget>().match(many(1), many(2), primary, ctx);
    expect(diff).to.match(/\/list\/9: 1, wanted 2, and 5 more$/);
  });

  for (const [path, actual, desired, matched] of [
    ['resources', { limits: { cpu: '500m' } }, { limits: { cpu: '0.5' } }, true],
    ['resources', { requests: { memory: '1Gi' } }, { requests: { memory: '1024Mi' } }, true],
    ['resources', { requests: { cpu: 1 } }, { requests: { cpu: '1' } }, true],
    ['resources', { requests: { cpu: '2' } }, { requests: { cpu: '1' } }, false],
    ['resources', { limits: { memory: '9007199254740993' } }, { limits: { memory: LONG } }, true],
    ['data', { cpu: '500m' }, { cpu: '0.5' }, false],
  ] as const) {
    it(`compares ${exactJson(actual)} with ${exactJson(desired)} in ${path} by value where it is a quantity`, () => {
      const matcher = genericMatcher<Any, Widget>();
      const answer = matcher.match(object({ [path]: actual }), object({ [path]: desired }), primary, ctx);
      expect(answer.matched).to.equal(matched);
    });
  }
});

describe('the generic matcher of a dependent', () => {
  const wanted = object({ spec: { cpu: '1000m', env: [], ports: [{ port: 80 }] } });
  /** As a server stores it, and adds defaults. */
  const stored = (more: object = {}, metadata: object = {}) =>
    object(
      { spec: { cpu: '1', ports: [{ port: 80, protocol: 'TCP' }], ...more } },
      { uid: 'u', resourceVersion: '7', ...metadata },
    );
  const remembering = (how?: GenericMatch) => {
    const matcher = rememberingMatcher<Any, Widget>(how);
    matcher.remember(wanted, stored());
    return (actual: Any, desired = wanted) => matcher.match(actual, desired, primary, ctx).matched;
  };

  const rows: [string, Any, GenericMatch | undefined, boolean][] = [
    ['matches what the server makes of the desired object', stored(), undefined, true],
    ['matches it in a later version', stored({ replicas: 3 }, { resourceVersion: '8' }), undefined, true],
    ['does not match if a desired field has changed', stored({ cpu: '2' }), undefined, false],
    ['does not match if an element was added to a list', stored({ env: [{ name: 'a' }] }), undefined, false],
    ['does not match another object', stored({}, { uid: 'v' }), undefined, false],
    ['matches it with other ignored fields', stored({ ports: [] }), { ignore: ['/spec/ports'] }, true],
    ['does not match additional fields if they count', stored({ replicas: 3 }), { values: 'equal' }, false],
    [
      'does not match labels of others if they count',
      stored({}, { labels: { a: '1' } }),
      { metadata: 'equal' },
      false,
    ],
  ];
  for (const [title, actual, how, isMatch] of rows)
    it(title, () => {
      expect(remembering(how)(actual)).to.equal(isMatch);
    });

  it('does not match another desired object, and what was never written', () => {
    expect(remembering()(stored(), object({ spec: { cpu: '2000m', env: [] } }))).to.equal(false);
    expect(rememberingMatcher<Any, Widget>().match(stored(), wanted, primary, ctx).matched).to.equal(false);
  });
});

describe('the matcher by equality', () => {
  const matched = (a: unknown, b: unknown) => equalMatcher.match(a, b, primary, ctx).matched;
  it('accepts values that are completely equal', () => {
    expect(matched({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).to.equal(true);
    expect(matched({ a: 1, b: undefined }, { a: 1 })).to.equal(true);
  });
  it('detects any difference', () => {
    expect(matched({ a: 1, b: 2 }, { a: 1 })).to.equal(false);
    expect(matched([1, 2], [1])).to.equal(false);
    expect(matched('a', 'b')).to.equal(false);
  });
});

describe('the fields of an object in a field set', () => {
  const rows: [string, object, object, object][] = [
    ['fields', { a: 1, b: 2 }, { 'f:a': {} }, { a: 1 }],
    ['nested fields', { a: { x: 1, y: 2 } }, { 'f:a': { 'f:x': {} } }, { a: { x: 1 } }],
    ['all of a field without nested entries', { a: { x: [1] } }, { 'f:a': {} }, { a: { x: [1] } }],
    ['only the element itself for a dot', { a: { x: 1 } }, { 'f:a': { '.': {} } }, { a: {} }],
    ['nothing for missing fields', { a: 1 }, { 'f:b': {}, 'f:c': { 'f:d': {} } }, {}],
    [
      'elements by keys, in the order of the list',
      {
        list: [
          { n: 'c', v: 3 },
          { n: 'a', v: 1 },
          { n: 'b', v: 2, w: 9 },
        ],
      },
      { 'f:list': { 'k:{"n":"b"}': { '.': {}, 'f:n': {}, 'f:v': {} }, 'k:{"n":"c"}': { 'f:n': {} } } },
      { list: [{ n: 'c' }, { n: 'b', v: 2 }] },
    ],
    [
      'elements by several keys',
      {
        ports: [
          { p: 1, t: 'TCP' },
          { p: 1, t: 'UDP' },
        ],
      },
      { 'f:ports': { 'k:{"p":1,"t":"UDP"}': { 'f:p': {} } } },
      { ports: [{ p: 1 }] },
    ],
    ['elements of sets by value', { s: ['x', 'y'] }, { 'f:s': { 'v:"y"': {} } }, { s: ['y'] }],
    [
      'elements of sets by integers beyond 2^53',
      { s: [1, LONG] },
      { 'f:s': { [`v:${LONG}`]: {} } },
      { s: [LONG] },
    ],
    ['elements by index', { s: ['x', 'y'] }, { 'f:s': { 'i:1': {} } }, { s: ['y'] }],
    [
      'fields with special characters in their names',
      { labels: { 'a.b/c': '1', d: '2' } },
      { 'f:labels': { 'f:a.b/c': {} } },
      { labels: { 'a.b/c': '1' } },
    ],
    [
      'nothing for entries that cannot be parsed',
      { s: ['x'] },
      { 'f:s': { 'v:{broken': {}, 'z:1': {} } },
      { s: [] },
    ],
    ['a field called __proto__', JSON.parse('{"__proto__": {"a": 1}}') as object, { 'f:x': {} }, {}],
  ];
  for (const [what, value, fields, expected] of rows) {
    it(`include ${what}`, () => {
      // A copy, because the parsed names of a set are cached with it.
      const { part } = select(value as never, copy(fields) as FieldSet);
      const present = Object.entries(part).filter(([, field]) => field !== undefined);
      expect(Object.fromEntries(present)).to.deep.equal(expected);
    });
  }
});

describe('the matcher by applied fields', () => {
  const applied = (value: object, fieldsV1: object, more: object = {}): View<Any> =>
    object(value, {
      uid: 'u1',
      managedFields: [
        {
          manager: 'widgets',
          operation: 'Apply',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1,
          ...more,
        },
      ],
    });
  const match = (actual: View<Any>, desired: Any) =>
    ssaMatcher<Any, Widget>().match(actual, desired, primary, ctx);

  it('RUN-55: compares our fields and no others', () => {
    const actual = applied({ spec: { image: 'a', replicas: 5 } }, { 'f:spec': { 'f:image': {} } });
    expect(match(actual, object({ spec: { image: 'a' } })).matched).to.equal(true);
    expect(match(actual, object({ spec: { image: 'b' } })).diff).to.equal('/spec/image: "a", wanted "b"');
  });
  it('RUN-56: detects a field of ours that is no longer desired', () => {
    const actual = applied({ data: { x: '1', y: '2' } }, { 'f:data': { 'f:x': {}, 'f:y': {} } });
    expect(match(actual, object({ data: { x: '1' } })).matched).to.equal(false);
  });
  for (const [title, more] of [
    ['another manager', { manager: 'kubectl' }],
    ['an update', { operation: 'Update' }],
    ['a subresource', { subresource: 'status' }],
  ] as const) {
    it(`RUN-57: does not treat ${title} as an apply of ours`, () => {
      const actual = applied({ data: { x: '1' } }, { 'f:data': { 'f:x': {} } }, more);
      expect(match(actual, object({ data: { x: '1' } }))).to.deep.equal({
        matched: false,
        diff: 'widgets has not applied it yet',
      });
    });
  }
  it('does not guess between two applies of ours', () => {
    const actual = applied({ data: { x: '1' } }, { 'f:data': { 'f:x': {} } });
    const twice = {
      ...actual,
      metadata: {
        ...actual.metadata,
        managedFields: [...(actual.metadata.managedFields ?? []), ...(actual.metadata.managedFields ?? [])],
      },
    };
    expect(match(twice, object({ data: { x: '1' } })).matched).to.equal(false);
  });
  it("RUN-58: accepts the server's version of the same desired state, until either changes", () => {
    const matcher = ssaMatcher<Any, Widget>();
    const fields = { 'f:data': { 'f:x': {} } };
    const answer = applied({ data: { x: 'rewritten' } }, fields);
    const wish = object({ data: { x: 'written' } });
    const judge = (actual: View<Any>, desired: Any) => matcher.match(actual, desired, primary, ctx).matched;
    expect(judge(answer, wish)).to.equal(false);
    matcher.remember(wish, answer as Any, 'widgets');
    expect(judge(answer, wish)).to.equal(true);
    expect(judge(answer, object({ data: { x: 'other' } }))).to.equal(false);
    expect(judge(applied({ data: { x: 'by hand' } }, fields), wish)).to.equal(false);
  });
  it('does not compare a version again that matched, unless the desired state changes', () => {
    const matcher = ssaMatcher<Any, Widget>();
    const fields = { 'f:data': { 'f:x': {} } };
    const of = (x: string, resourceVersion: string): View<Any> => {
      const made = applied({ data: { x } }, fields);
      return { ...made, metadata: { ...made.metadata, uid: 'u', resourceVersion } };
    };
    const judge = (actual: View<Any>, x: string) =>
      matcher.match(actual, object({ data: { x } }), primary, ctx).matched;
    expect(judge(of('1', 'v1'), '1')).to.equal(true);
    expect(judge(of('2', 'v1'), '1'), 'not looked at').to.equal(true);
    expect(judge(of('2', 'v1'), '3'), 'another wish').to.equal(false);
    expect(judge(of('2', 'v2'), '1'), 'another version').to.equal(false);
    expect(judge(of('2', 'v2'), '2')).to.equal(true);
  });
  it('RUN-58: compares and caches integers beyond 2^53 with all their digits', () => {
    const matcher = ssaMatcher<Any, Widget>();
    const answer = applied({ spec: { n: LONG } }, { 'f:spec': { 'f:n': {} } });
    const wish = object({ spec: { n: LONG + 1n } });
    expect(matcher.match(answer, wish, primary, ctx).diff).to.equal(
      '/spec/n: 9007199254740993, wanted 9007199254740994',
    );
    matcher.remember(wish, answer as Any, 'widgets');
    expect(matcher.match(answer, wish, primary, ctx).matched).to.equal(true);
    expect(matcher.match(answer, object({ spec: { n: LONG + 2n } }), primary, ctx).matched).to.equal(false);
  });
  it('ignores identity and server-side fields', () => {
    const metadata = {
      name: 'a',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '1',
      generation: 2,
      creationTimestamp: 't',
      labels: { a: '1' },
    };
    expect(comparableIntent(object({ spec: { a: 1, b: undefined, c: null } }, metadata))).to.deep.equal({
      spec: { a: 1 },
      metadata: { labels: { a: '1' } },
    });
  });
});

describe('the choice between apply and replace', () => {
  const strategyOf = (choice: object, defaults: object = {}) => matcherOf(choice, parts, defaults).strategy;
  const rows: [string, object, object, 'apply' | 'replace'][] = [
    ['applies by default', {}, {}, 'apply'],
    ['follows the process setting', {}, { ssa: false }, 'replace'],
    [
      'prefers the setting of the kind to that of the process',
      {},
      { ssa: true, kinds: { Part: false } },
      'replace',
    ],
    [
      'prefers the setting of the dependent to all others',
      { ssa: true },
      { ssa: false, kinds: { Part: false } },
      'apply',
    ],
  ];
  for (const [title, choice, defaults, expected] of rows) {
    it(`RUN-59: ${title}`, () => {
      expect(strategyOf(choice, defaults)).to.equal(expected);
    });
  }
  it('cannot compare applied fields of an object that is never applied', () => {
    expect(() => matcherOf({ ssa: false, match: 'ssa' }, parts, {})).to.throw(
      'Part: fields that are never applied',
    );
  });
  it('uses a matcher of the author', () => {
    const match = { match: () => ({ matched: true }) };
    expect(matcherOf({ match }, parts, {}).matcher).to.equal(match);
  });
});
