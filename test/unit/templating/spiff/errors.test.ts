/** What failing documents show: the original's message first, then the lines around the expression. */
import { expect } from 'chai';
import { fileTreeOf } from '../../../../src/lib/file-tree.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { checkTemplate } from '../../../../src/templating/check.ts';
import { TemplateBroken } from '../../../../src/templating/errors.ts';
import { TemplateError } from '../../../../src/templating/gotemplate/errors.ts';
import {
  renderExecution,
  renderWithState,
  type EngineOptions,
  type TemplateExecution,
} from '../../../../src/templating/render.ts';
import { FakeClock } from '../../../support/clock.ts';

const values = { imports: { num: 3, list: [{ name: 'p' }, { name: 'q' }], password: 's3cr3t-value' } };
const files = fileTreeOf(
  new Map([
    ['doc.yaml', Buffer.from('x: 1\nz: (( imports.nope ))\n')],
    ['part.yaml', Buffer.from('a:\n  b: (( nope ))\n')],
  ]),
);
const options = (): EngineOptions => ({ clock: new FakeClock(), rng: seededRng(1), files });

function failureOf(execution: Omit<TemplateExecution, 'type'>, stored?: unknown): Error {
  const whole = { type: 'Spiff', ...execution };
  try {
    if (stored === undefined) renderExecution(whole, values, options());
    else renderWithState(whole, values, options(), stored);
  } catch (error) {
    expect(error).to.be.instanceOf(TemplateBroken);
    return error as Error;
  }
  throw new Error('it succeeded');
}

const failure = (template: unknown): Error => failureOf({ template });

/** Line (1-based) and column (0-based) that the excerpt marks. */
function marked({ message }: Error): readonly [number, number] | undefined {
  const [, block] = /\ntemplate source:\n([^]*?)\ntemplate input:\n/.exec(message) ?? [];
  const lines = block?.split('\n') ?? [];
  const at = lines.findIndex((line) => line.includes('ˆ≈'));
  if (at < 0) return undefined;
  return [Number.parseInt(lines[at - 1] ?? '', 10), (lines[at] ?? '').indexOf('ˆ') - '1:    '.length];
}

const rows: readonly (readonly [title: string, template: string, line: number, column: number])[] = [
  ['an unknown name', 'x: 1\ndeployItems:\n- name: a\n  config:\n    v: (( imports.nope ))\n', 5, 7],
  ['an argument of the wrong kind', 'ok: 1\nv: (( length(imports.num) ))\n', 2, 3],
  ['too many arguments', 'f: (( |a|->a ))\nv: (( .f(1, 2) ))\n', 2, 3],
  ['an unknown function', '- a\n- (( nope(1) ))\n', 2, 2],
  ['an error raised by the author', 'a: 1\nb:   (( error("no") ))\n', 2, 5],
  ['an operand of the wrong kind', 'v: (( "n" imports.num ))\n', 1, 3],
  ['an expression in double quotes', 'v: "(( imports.nope ))"\n', 1, 4],
  ['an expression in single quotes', "v: '(( imports.nope ))'\n", 1, 4],
  ['an expression in a block', 'v: |-\n  (( "a"\n     imports.nope ))\n', 2, 2],
  ['an expression in a folded block', 'v: >-\n  (( "a"\n     imports.nope ))\n', 2, 2],
  ['an expression after an anchor', 'v: &one (( imports.nope ))\nw: *one\n', 1, 8],
  ['an expression in a list on one line', 'v: [1, (( nope ))]\n', 1, 7],
  ['an expression after other characters', 'ü: ["Grüße 🌍", (( nope ))]\n', 1, 16],
  ['a document that is an expression', '# one\n(( nope ))\n', 2, 0],
  ['the last of equal keys', 'v: (( nope ))\nw: 1\nv: (( nope ))\n', 3, 3],
  ['a cycle, by its first member', 'ok: 1\nb: (( c ))\nc: (( b ))\n', 2, 3],
  ['the failing expression, not those that wait for it', 'a: (( z "x" ))\nz: (( nope ))\n', 2, 3],
  [
    'a list that became longer than it is written',
    'l:\n- <<<: (( imports.list ))\n- name: z\n  v: (( nope ))\n',
    4,
    5,
  ],
  ['an entry by its name', 'l:\n- name: z\n  v: (( nope ))\n- <<<: (( imports.list ))\n', 3, 5],
  ['a merged value that is not a map', 'a: 1\nm:\n  b: 1\n  <<: (( imports.list ))\n', 4, 2],
  ['a failing template, by its instance', 't:\n  <<<: (( &template ))\n  v: (( nope ))\ni: (( *t ))\n', 4, 3],
  ['a value read from a file, by its reader', 'v: 1\nw: (( read("part.yaml", "import") ))\n', 2, 3],
  ['an aliased value, where it is written', 'a: &one { b: (( nope )) }\nc: { <<: *one, d: 1 }\n', 1, 13],
  ['a duplicate value, by the first', 'a: 1\nb: (( nope ))\nc: (( nope ))\n', 2, 3],
  ['a cycle of which a part is known', 'v: (( "n-" imports.list.[0].name w ))\nw: (( v ))\n', 1, 3],
  ['an expression that ends too early', 'a: 1\nb: (( 1 + ))\n', 2, 10],
  ['an expression that ends too early, in quotes', 'a: 1\nb: "(( 1 + ))"\n', 2, 11],
  ['the invalid line of an expression', 'a: >-\n  (( "x"\n     imports. ))\n', 3, 12],
  ['a string that is never closed', 'c: (( "open ))\n', 1, 6],
  ['an invalid expression with escapes, by its start', 'b: "(( \\x31 + ))"\n', 1, 4],
  ['invalid YAML', 'a: 1\nb: [1\nc: 2\n', 3, 0],
  ['a key that is not a string', 'a:\n  b: 1\n  1: a\n', 3, 2],
];

describe('a failing Spiff document', () => {
  for (const [title, template, line, column] of rows) {
    it(`shows the place of ${title}`, () => {
      const error = failure(template);
      // Invalid YAML fails before the input is bound.
      const whole = error.message.includes('template input:')
        ? error
        : new Error(`${error.message}\ntemplate input:\n`);
      expect(marked(whole)).to.deep.equal([line, column]);
    });
  }

  it("keeps the original's message in front, and the input behind, without values", () => {
    const { message } = failure('a: (( b ))\nb: (( imports.nope ))\n');
    expect(message).to.equal(
      [
        'unresolved nodes:',
        "\t(( imports.nope ))\tin template\tb\t()\t*'imports.nope' not found",
        "\t(( b ))\tin template\ta\t()\t-'b' unresolved",
        'template source:',
        '1:    a: (( b ))',
        '2:    b: (( imports.nope ))',
        '         ˆ≈≈≈≈≈≈≈',
        '3:    ',
        '',
        'template input:',
        '\timports: {"list":"[...] ([]interface {})","num":"[...] (float64)","password":"[...] (string)"}',
        '',
      ].join('\n'),
    );
  });

  it('has the place in its error object, with the reason in one line', () => {
    const { cause } = failure('a: [ü, (( "a"\n  nope ))]\nb: (( nope ))\n');
    expect(cause).to.be.instanceOf(TemplateError);
    const { line, column, sourceLine, reason } = cause as TemplateError;
    // Bytes, as in Go.
    expect({ line, column, sourceLine, reason }).to.deep.equal({
      line: 1,
      column: 8,
      sourceLine: 'a: [ü, (( "a"',
      reason: `(( "a" nope )): 'nope' not found; 1 more node is unresolved`,
    });
  });

  it('is shown as YAML, in the order of its author, if it is a tree', () => {
    const error = failure({ z: 1, a: { list: ['x', { v: '(( imports.nope ))' }] } });
    expect(error.message).to.contain(
      [
        'template source:',
        '1:    z: 1',
        '2:    a:',
        '3:      list:',
        '4:      - x',
        '5:      - v: (( imports.nope ))',
        '             ˆ≈≈≈≈≈≈≈',
      ].join('\n'),
    );
  });

  it('is shown if it is a file', () => {
    expect(marked(failureOf({ file: 'doc.yaml' }))).to.deep.equal([2, 3]);
  });

  it('is not shown for an error in the stored state', () => {
    const { message } = failureOf({ template: 'a: 1\n' }, { x: '(( nope ))' });
    expect(message).to.contain("'nope' not found").and.not.contain('template source:');
  });

  it('is not shown if that would be too much work', () => {
    const deep = Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1);
    expect(failure(deep).message)
      .to.contain('nested deeper than 200 levels')
      .and.not.contain('template source:');
  });
});

describe('an invalid expression', () => {
  const check = (template: unknown) => checkTemplate({ type: 'Spiff', template, functions: {} });

  it('is reported by line and column in a template', () => {
    expect(check('a: 1\nb: (( 1 + ))\n')).to.include({ kind: 'broken', line: 2, column: 10 });
  });

  it('is reported without a path if it is the whole template', () => {
    expect(check('(( 1 + ))'))
      .to.have.property('message')
      .that.matches(/^\(\( 1 \+ \)\): parse error/);
  });

  it('is reported by the path in a tree', () => {
    const verdict = check({ a: ['x', '(( 1 + ))'] });
    expect(verdict).to.include({ kind: 'broken', line: undefined, column: undefined });
    expect(verdict).to.have.deep.property('path', ['a', '[1]']);
  });

  it('is reported by the line of invalid YAML', () => {
    expect(check('a: 1\nb: [1\nc: 2\n')).to.include({ kind: 'broken', line: 3, column: undefined });
  });
});
