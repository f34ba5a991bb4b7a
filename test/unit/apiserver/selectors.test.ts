import { expect } from 'chai';
import {
  checkFieldSelector,
  fieldText,
  parseFieldSelector,
  selectableFields,
} from '../../../src/apiserver/selectors/field-selectors.ts';
import {
  labelSelectorOf,
  parseLabelSelector,
  SelectorError,
} from '../../../src/apiserver/selectors/selectors.ts';
import type { KubeObject } from '../../../src/apiserver/types.ts';

const labels: Record<string, Record<string, string> | undefined> = {
  a: { app: 'web', n: '1' },
  b: { app: 'db', n: '10', tier: '' },
  c: { tier: 'x' },
  d: undefined,
  e: { app: '', n: 'abc', 'ex.io/z': 'q' },
};
const matching = (selector: string): string => {
  const { matches } = parseLabelSelector(selector);
  return Object.keys(labels)
    .filter((name) => matches(labels[name]))
    .join('');
};

describe('a label selector', () => {
  const rows: [string, string][] = [
    ['app=web', 'a'],
    ['app==web', 'a'],
    ['app!=web', 'bcde'],
    ['app in (web,db)', 'ab'],
    ['app notin (web)', 'bcde'],
    ['app', 'abe'],
    ['!app', 'cd'],
    ['n>1', 'b'],
    ['n<10', 'a'],
    ['n>0,app=db', 'b'],
    [' app = web , n = 1 ', 'a'],
    ['app=', 'e'],
    ['app in ()', 'e'],
    ['app in (a,,web)', 'ae'],
    ['ex.io/z=q', 'e'],
    ['', 'abcde'],
    ['tier in (x,)', 'bc'],
  ];
  for (const [selector, names] of rows) {
    it(`API-60: "${selector}" matches ${names}`, () => {
      expect(matching(selector)).to.equal(names);
    });
  }

  const bad: [string, string][] = [
    ['app in web', "unable to parse requirement: found 'web' expected: '('"],
    ['app in (web', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    [
      'n>a',
      `unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['/a=b', 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
  ];
  for (const [selector, message] of bad) {
    it(`API-61: "${selector}" is rejected`, () => {
      expect(() => parseLabelSelector(selector)).to.throw(SelectorError, message);
    });
  }

  it('of an object combines labels and expressions', () => {
    const { matches } = labelSelectorOf({
      matchLabels: { app: 'db' },
      matchExpressions: [{ key: 'tier', operator: 'Exists' }],
    });
    expect(matches(labels['b'])).to.equal(true);
    expect(matches(labels['a'])).to.equal(false);
  });
  it('of an empty object matches everything, a missing one nothing', () => {
    expect(labelSelectorOf({}).matches(undefined)).to.equal(true);
    expect(labelSelectorOf(undefined).matches({})).to.equal(false);
  });
});

describe('a field selector', () => {
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'n' },
    type: 'Opaque',
  };
  const matches = (selector: string): boolean =>
    parseFieldSelector(selector).matches((field) => fieldText(secret, field));

  it('API-62: compares fields as strings', () => {
    expect(matches('metadata.name=s,type==Opaque,metadata.namespace!=x')).to.equal(true);
    expect(matches('metadata.name!=s')).to.equal(false);
    expect(matches('type=')).to.equal(false);
  });
  it('accepts escaped separators', () => {
    expect(parseFieldSelector('metadata.name=a\\,b\\=c').requirements).to.deep.equal([
      { field: 'metadata.name', operator: '=', value: 'a,b=c' },
    ]);
  });
  it('uses defaults if a kind has them', () => {
    const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
    expect(fieldText(node, 'spec.unschedulable')).to.equal('false');
  });

  const bad: [string, readonly string[], object, string][] = [
    [
      'spec.x=1',
      [],
      {},
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['spec.x=1', selectableFields('', 'Secret'), {}, 'field label not supported: spec.x'],
    ['spec.x=1', [], { isCustom: true }, 'field label not supported: spec.x'],
    [
      'spec.x=1',
      selectableFields('batch', 'Job'),
      { kind: 'Job' },
      'field label "spec.x" not supported for Job',
    ],
  ];
  for (const [selector, fields, options, message] of bad) {
    it(`API-63: an unknown field is rejected: ${message}`, () => {
      expect(() => checkFieldSelector(parseFieldSelector(selector), fields, options)).to.throw(
        SelectorError,
        message,
      );
    });
  }
  it('without an operator is rejected', () => {
    expect(() => parseFieldSelector('x')).to.throw(
      SelectorError,
      "invalid selector: 'x'; can't understand 'x'",
    );
  });
});
