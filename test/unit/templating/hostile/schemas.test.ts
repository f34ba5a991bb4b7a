import { expect } from 'chai';
import { blueprint } from '../../dataflow/given.ts';
import { useRunner, watched } from './support.ts';

/** Definitions that each refer to the previous one twice: a small schema, and 2^60 validations. */
const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, i) => {
    const before = { $ref: i === 0 ? '#/definitions/end' : `#/definitions/d${i - 1}` };
    return [`d${i}`, { allOf: [before, { anyOf: [before, before] }] }];
  }),
);
const loops = (scheme: 'local' | 'blueprint') =>
  Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `t${i}`,
      i === 0
        ? { type: 'string' }
        : { allOf: [{ $ref: `${scheme}://t${i - 1}` }, { $ref: `${scheme}://t${i - 1}` }] },
    ]),
  );

const attacks: Readonly<
  Record<string, { readonly schema: unknown; readonly value: unknown; readonly ends: RegExp }>
> = {
  'a pattern with catastrophic backtracking': {
    schema: { type: 'string', pattern: '^(a+)+$' },
    value: `${'a'.repeat(50_000)}!`,
    ends: /Does not match pattern/,
  },
  'a pattern of property names that backtracks': {
    schema: { patternProperties: { '^(a|a)*$': {} }, additionalProperties: false },
    value: { [`${'a'.repeat(5_000)}!`]: 1 },
    ends: /Additional property .* is not allowed/,
  },
  'definitions that double sixty times': {
    schema: { $ref: '#/definitions/d59', definitions: { ...doubling, end: { type: 'string' } } },
    value: 5,
    ends: /takes longer than|needs more than/,
  },
  'local types that double forty times': {
    schema: { $ref: 'local://t39' },
    value: 5,
    ends: /takes longer than|more memory|needs more than/,
  },
  'a schema that refers to itself': {
    schema: { allOf: [{ $ref: '#' }] },
    value: 5,
    ends: /validator creation failed|refers to itself/,
  },
  'unique items that are large': {
    schema: { type: 'array', uniqueItems: true, items: { type: 'object' } },
    value: Array.from({ length: 40_000 }, (_, i) => ({ a: { b: [i] } })),
    ends: /takes longer than/,
  },
};

describe('a malicious schema', () => {
  const here = useRunner();
  const loaded = blueprint({ localTypes: loops('local') });

  for (const [what, { schema, value, ends }] of Object.entries(attacks)) {
    it(`${what} has no effect`, async () => {
      const { stalledMs, ...ending } = await watched(() =>
        here.runner.check({ schema, value, blueprint: loaded }),
      );
      expect(stalledMs, 'the controllers go on meanwhile').to.be.below(1_000);
      expect(ending.error).to.equal(undefined);
      expect((ending.value as { message?: string }).message).to.match(ends);
    });
  }
});

describe('a malicious mapping', () => {
  const here = useRunner();
  const rows: readonly [string, unknown, RegExp][] = [
    ['that depends on itself', { a: '(( a ))' }, /'a' unresolved/],
    [
      'that doubles a string',
      Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [
          `k${i}`,
          i === 0 ? 'x'.repeat(100) : `(( k${i - 1} k${i - 1} ))`,
        ]),
      ),
      /more than 16777216 bytes/,
    ],
    ['that counts to a billion', { a: '(( [1..1000000000] ))' }, /more than 16777216 bytes/],
    [
      'that calls itself',
      { f: '(( lambda |x|->_(x) ))', a: '(( .f(1) ))' },
      /maximum template depth|more than \d+ steps|takes longer/,
    ],
    [
      'that builds an endless string',
      { a: '(( sum[[1..100000]|""|s,x|->s "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] ))' },
      /more than \d+ steps|more than \d+ bytes/,
    ],
    ['that reads the environment', { a: '(( env("HOME") ))' }, /unknown function 'env'/],
    ['that starts a program', { a: '(( exec("id") ))' }, /no OS operations supported/],
    ['that reads files of the host', { a: '(( read("/etc/passwd", "text") ))' }, /file does not exist/],
    ['that accesses a prototype', { a: '(( __proto__.polluted ))' }, /not found|unresolved/],
  ];
  for (const [what, document, ends] of rows) {
    it(`${what} has no effect`, async () => {
      const job = {
        document,
        key: 'x',
        bindings: {},
        what: 'import mapping template shop.x',
        reason: 'ConstructImports',
      };
      const { stalledMs, error } = await watched(() => here.runner.map(job));
      expect(stalledMs, 'the controllers go on meanwhile').to.be.below(1_000);
      expect(error?.message).to.match(ends);
    });
  }
});
