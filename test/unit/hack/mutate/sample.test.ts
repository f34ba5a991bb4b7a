import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { instrument } from '../../../../hack/mutate/instrument.ts';
import { mutantsOf } from '../../../../hack/mutate/operators.ts';
import { linesOf, sampleOf, sizeOf } from '../../../../hack/mutate/sample.ts';

const lines = (count: number, line: (i: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, i) => line(i));
const functions = (count: number): readonly string[] =>
  lines(count, (i) => `export const f${String(i)} = (a, b) => a < b && b.done(${String(i)});`);
const chosen = (source: string, path = 'src/a.ts'): readonly string[] =>
  sampleOf(path, source, mutantsOf(source), 6).map(
    ({ start, end, replacement }) => `${source.slice(start, end)} → ${replacement}`,
  );

describe('the sample of mutants', () => {
  for (const [count, linesOfFolder, size] of [
    [3, 3, 1],
    [50, 999, 5],
    [90, 1000, 3],
    [90, 4999, 3],
    [80, 5000, 1],
    [160, 50_000, 2],
    [1000, 1000, 8],
  ] as const)
    it(`has ${String(size)} of ${String(count)} lines in a folder of ${String(linesOfFolder)}`, () => {
      const source = functions(count).join('\n');
      expect(sizeOf(source, linesOfFolder)).to.equal(size);
      expect(sampleOf('src/a.ts', source, mutantsOf(source), size)).to.have.length(size);
    });

  it('takes all mutants of a file that has fewer', () => {
    expect(chosen('export const a = (b) => !b;')).to.deep.equal(['!b → b']);
    expect(chosen('export type A = 1;')).to.deep.equal([]);
  });

  it('is the same for the same file, and another for another file', () => {
    const source = functions(150).join('\n');
    expect(chosen(source)).to.deep.equal(chosen(source));
    expect(chosen(source)).not.to.deep.equal(chosen(source, 'src/b.ts'));
  });

  it('stays when comments, layout or other lines change', () => {
    const before = functions(150);
    const sample = chosen(before.join('\n'));
    expect(chosen(`// a comment\n\n${before.join('\n\n  ')}`)).to.deep.equal(sample);
    const more = chosen(
      [...lines(3, (i) => `export const g${String(i)} = (a) => !a;`), ...before].join('\n'),
    );
    expect(sample.filter((mutant) => !more.includes(mutant))).to.have.length.below(2);
  });

  it('tells equal lines apart', () => {
    const source = lines(150, () => 'f = (a) => !a;').join('\n');
    expect(
      new Set(sampleOf('src/a.ts', source, mutantsOf(source), 6).map(({ start }) => start)).size,
    ).to.equal(6);
  });

  it('has no mutants that overlap', () => {
    const source = `async () => { ${lines(120, (i) => `await f${String(i)}();`).join('\n')} }`;
    const all = mutantsOf(source).filter(({ operator }) => operator === 'swap statements');
    const sample = sampleOf('src/a.ts', source, all, 5);
    expect(sample).to.have.length(5);
    sample.forEach(({ end }, i) => expect(end).to.be.at.most(sample[i + 1]?.start ?? Infinity));
  });

  it('chooses code that runs on import less often', () => {
    const source = [
      ...lines(100, (i) => `a(!b${String(i)});`),
      ...lines(100, (i) => `f = () => !c${String(i)};`),
    ].join('\n');
    const all = mutantsOf(source).filter(({ operator }) => operator === 'drop negation');
    const share = sampleOf('src/a.ts', source, all, 5).filter(({ isStatic }) => isStatic);
    expect(share).to.have.length.below(4);
  });

  it('counts lines of code without comments and empty lines', () => {
    expect(linesOf('a;\n\n// b\n/** c\n * d\n */\n  e; // f\n')).to.equal(2);
  });
});

describe('code with mutants', () => {
  /** @returns what the code gives with no mutant, and with each of its mutants */
  const results = (source: string, operators: readonly string[]): readonly unknown[] => {
    const mutants = mutantsOf(source)
      .filter(({ operator }) => operators.includes(operator))
      .map((mutant, i) => ({ ...mutant, id: i + 1 }));
    const code = instrument(source, mutants);
    return [0, ...mutants.map(({ id }) => id)].map((active) => {
      const result: unknown = runInNewContext(`${code}; f()`, { __mutant: (id: number) => id === active });
      return JSON.parse(JSON.stringify(result)) as unknown;
    });
  };

  it('runs as before while no mutant is on, and with one change while one is', () => {
    const source = 'function f() { const all = []; if (1 < 2) all.push({ a: 1, b: [2, 3] }); return all; }';
    expect(results(source, ['force condition', 'drop call', 'drop property', 'drop element'])).to.deep.equal([
      [{ a: 1, b: [2, 3] }],
      [{ a: 1, b: [2, 3] }],
      [],
      [],
      [{ b: [2, 3] }],
      [{ a: 1 }],
      [{ a: 1, b: [3] }],
      [{ a: 1, b: [2] }],
    ]);
  });

  it('has mutants inside of others', () => {
    const source = 'function f() { return (true && 0) || 1 + 1; }';
    expect(results(source, ['drop operand', 'change sign'])).to.deep.equal([2, 0, 2, true, 2, 0]);
  });
});
