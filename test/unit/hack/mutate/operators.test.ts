import { expect } from 'chai';
import { mutantsOf, WEIGHTS } from '../../../../hack/mutate/operators.ts';
import { templateMutantsOf } from '../../../../hack/mutate/templates.ts';

const applied = (
  source: string,
  mutants: ReturnType<typeof mutantsOf>,
): readonly (readonly [string, string])[] =>
  mutants.map(
    ({ operator, start, end, replacement }) =>
      [operator, source.slice(0, start) + replacement + source.slice(end)] as const,
  );

describe('changes of TypeScript by make mutate', () => {
  for (const [operator, source, ...changed] of [
    ['drop operand', 'f(a && b);', 'f(a);', 'f(b);'],
    ['drop operand', 'f(a || b);', 'f(a);', 'f(b);'],
    ['drop default', 'f(a ?? b);', 'f(a);'],
    ['force condition', 'if (a) b;', 'if (true) b;', 'if (false) b;'],
    ['force condition', 'f(a ? b : c);', 'f(true ? b : c);', 'f(false ? b : c);'],
    ['force condition', 'while (a) b;', 'while (false) b;'],
    ['drop negation', 'f(!a);', 'f(a);'],
    ['move boundary', 'f(a < b);', 'f(a <= b);'],
    ['move boundary', 'f(a >= b);', 'f(a > b);'],
    ['negate equality', 'f(a === b);', 'f(a !== b);'],
    ['drop call', 'f(); await g();', ' await g();', 'f(); '],
    ['drop call', 'void f();', ''],
    ['drop assignment', 'a.b = c;', ''],
    ['drop assignment', 'delete a.b;', ''],
    ['drop throw', 'throw a;', ''],
    ['drop handler', 'try { a; } catch { b; c; }', 'try { a; } catch {  }'],
    ['drop handler', 'try { a; } finally { b; }', 'try { a; } finally {  }'],
    ['swap statements', '{ await f(); await g(); }', '{ await g(); await f(); }'],
    ['swap statements', '{ await f(); g(); }', '{ g(); await f(); }'],
    ['drop step of chain', 'f(a.filter(b).map(c));', 'f(a.map(c));'],
    [
      'drop property',
      'f({ a: b, c, ...d });',
      'f({ , c, ...d });',
      'f({ a: b, , ...d });',
      'f({ a: b, c,  });',
    ],
    ['drop element', 'f([a, ...b]);', 'f([, ...b]);', 'f([a, ]);'],
    ['change number', 'f(0, 10, 5_000);', 'f(1, 10, 5_000);', 'f(0, 11, 5_000);', 'f(0, 10, 10000);'],
    ['change sign', 'f(a - b, c + 1);', 'f(a + b, c + 1);', 'f(a - b, c - 1);'],
    ['flip boolean', 'f(true);', 'f(false);'],
  ] as const)
    it(`are made by "${operator}" to ${source}`, () => {
      const found = applied(source, mutantsOf(source)).filter(([name]) => name === operator);
      expect(found.map(([, text]) => text)).to.deep.equal(changed);
    });

  for (const [what, source] of [
    ['types', 'type A = 1 | true; let a: { b: 2 }; interface C { d: 3 }'],
    ['imports', `import a from 'b'; export { c } from 'd';`],
    ['log lines', `log.info('a', { b: 1 }); this.#log.warn('c');`],
    ['calls of the constructor above', 'class A extends B { constructor() { super(); } }'],
    ['patterns', '[a, b] = c; for ({ d } of e);'],
    ['statements without an await between them', '{ let a; let b; }'],
    ['the middle of an optional chain', 'c = a?.filter(b);'],
    ['empty defaults', `c = a ?? ''; d = b ?? [];`],
    ['Math', 'c = Math.max(a, b);'],
    ['names of properties', 'type A = B[1]; let a: typeof b;'],
  ] as const)
    it(`leave ${what} alone`, () => {
      const found = applied(source, mutantsOf(source)).filter(([name]) => name !== 'drop assignment');
      expect(found).to.deep.equal([]);
    });

  it('drop an optional property only as a whole', () => {
    const found = applied('f({ ...(a && { b }) });', mutantsOf('f({ ...(a && { b }) });'));
    expect(found.map(([operator]) => operator)).to.deep.equal([
      'drop call',
      'drop property',
      'drop property',
    ]);
  });

  it('know which code runs on import', () => {
    const source = 'a = 1; class A { b = 2; static c = 3; d() { return 4; } } e = () => 5;';
    const numbers = mutantsOf(source).filter(({ operator }) => operator === 'change number');
    expect(numbers.map(({ isStatic }) => isStatic)).to.deep.equal([true, false, true, false, false]);
  });
});

describe('changes of chart templates by make mutate', () => {
  for (const [operator, source, ...changed] of [
    ['negate if', '{{- if .a }}', '{{- if not (.a) }}'],
    ['negate if', 'a: {{ if and .a .b }}c{{ end }}', 'a: {{ if not (and .a .b) }}c{{ end }}'],
    ['negate if', '{{- else if .a -}}', '{{- else if not (.a) -}}'],
    ['drop item', '  - Ingress', ''],
    ['drop item', '  verbs: [get, list]', '  verbs: [ list]', '  verbs: [get]'],
    ['drop key', '  port: 80', ''],
    ['drop key', '  port: {{ .Values.port }}', ''],
    ['drop include', '  {{- include "a" . | nindent 2 }}', ''],
  ] as const)
    it(`are made by "${operator}" to ${source.trim()}`, () => {
      expect(applied(source, templateMutantsOf(source))).to.deep.equal(
        changed.map((text) => [operator, text]),
      );
    });

  for (const source of [
    '# - comment',
    '',
    'spec:',
    '  - name: a',
    '{{/* if .a */}}',
    '{{- end }}',
    '  text: |',
  ])
    it(`leave "${source}" alone`, () => {
      expect(templateMutantsOf(source)).to.deep.equal([]);
    });
});

it('each kind of change has a weight', () => {
  for (const weight of Object.values(WEIGHTS)) expect(weight).to.be.above(0);
});
