import { expect } from 'chai';
import {
  digestOf,
  problemOf,
  rowOf,
  type Equivalent,
  type FileResult,
} from '../../../../hack/mutate/results.ts';

const text = (lines: number): string => 'f();\n'.repeat(lines);
const survivor = { line: 3, code: 'f();', original: 'f();', replacement: '' };
const measured = (file: string, source: string, more: Partial<FileResult> = {}): FileResult => ({
  code: digestOf(file, source),
  lines: 1,
  killed: { 'test/a.test.ts': 4 },
  survived: [],
  ...more,
});

interface Case {
  readonly present: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, FileResult>>;
  readonly equivalents?: readonly Equivalent[];
  readonly tests?: readonly string[];
}
const row = ({
  present,
  files,
  equivalents = [],
  tests = ['test/a.test.ts'],
}: Case): ReturnType<typeof rowOf> =>
  rowOf('src/a', new Map(Object.entries(present)), { tests: {}, files }, equivalents, (test) =>
    tests.includes(test),
  );

describe('the row of a folder', () => {
  it('sums up the files that the folder has', () => {
    const gone = { 'src/a/gone.ts': measured('src/a/gone.ts', '') };
    const files = { 'src/a/b.ts': measured('src/a/b.ts', 'b', { survived: [survivor] }), ...gone };
    expect(row({ present: { 'src/a/b.ts': 'b' }, files })).to.include({
      killed: 4,
      survived: 1,
      equivalent: 0,
    });
  });

  it('does not count survivors that behave like the original', () => {
    const files = {
      'src/a/b.ts': measured('src/a/b.ts', 'b', { survived: [survivor, { ...survivor, code: 'g' }] }),
    };
    const { line: _, ...same } = survivor;
    const equivalents = [{ ...same, file: 'src/a/b.ts', reason: 'It does nothing.' }];
    const result = row({ present: { 'src/a/b.ts': 'b' }, files, equivalents });
    expect(result).to.include({ survived: 1, equivalent: 1 });
  });

  it('is refused when more than a tenth of its lines are in changed files', () => {
    const present = { 'src/a/b.ts': text(90), 'src/a/c.ts': text(10) };
    const files = { 'src/a/b.ts': measured('src/a/b.ts', text(90)) };
    expect(problemOf(row({ present, files }))).to.equal(undefined);
    const grown = { ...present, 'src/a/c.ts': text(11) };
    expect(problemOf(row({ present: grown, files }))).to.equal(
      'src/a: 11 % of its lines are in files that are new or have changed since they were measured',
    );
  });

  it('is refused when a folder was never measured', () => {
    expect(problemOf(row({ present: { 'src/a/b.ts': text(1) }, files: {} }))).to.include(
      '100 % of its lines',
    );
  });

  it('is refused when the tests of more than a tenth of its mutants have been deleted', () => {
    const present = { 'src/a/b.ts': text(1) };
    const having = (deleted: number): string | undefined => {
      const killed = { 'test/a.test.ts': 20 - deleted, 'test/gone.test.ts': deleted };
      return problemOf(
        row({ present, files: { 'src/a/b.ts': measured('src/a/b.ts', text(1), { killed }) } }),
      );
    };
    expect(having(2)).to.equal(undefined);
    expect(having(3)).to.equal('src/a: the tests that noticed 15 % of its mutants have been deleted');
  });

  it('stays valid when types, comments and layout change', () => {
    const files = { 'src/a/b.ts': measured('src/a/b.ts', 'f(a);') };
    expect(
      row({ present: { 'src/a/b.ts': '// why\nf(\n  a as string,\n);\ntype B = 1;' }, files }),
    ).to.include({ staleLines: 0 });
    expect(row({ present: { 'src/a/b.ts': 'f(b);' }, files })).to.include({ staleLines: 1 });
  });
});
