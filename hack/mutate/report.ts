/** What Stryker's report says of files: counts, score, survivors. */

interface Position {
  readonly line: number;
  readonly column: number;
}

interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** The part that is read here of https://github.com/stryker-mutator/mutation-testing-elements (report schema). */
export interface MutationReport {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>
  >;
}

/** A mutant that no test noticed. */
interface Survivor {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The line of source, without indentation. */
  readonly code: string;
  /** What was replaced, on one line. */
  readonly original: string;
  readonly replacement: string;
  readonly isCovered: boolean;
}

/** What a run found out about a file. */
export interface FileResult {
  readonly file: string;
  readonly killed: number;
  readonly timeouts: number;
  /** Mutants of code that runs once on import; they are not run. */
  readonly static: number;
  /** Mutants that do not run at all. */
  readonly errors: number;
  readonly survivors: readonly Survivor[];
}

/** A survivor that behaves like the original, as hack/mutate/equivalent.json lists it. */
export interface Equivalent {
  readonly file: string;
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

export interface Score extends Omit<FileResult, 'file' | 'survivors'> {
  readonly survived: number;
  readonly noCoverage: number;
  readonly equivalent: number;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function survivorOf(file: string, lines: readonly string[], mutant: ReportedMutant): Survivor {
  const { start, end } = mutant.location;
  const original = lines
    .slice(start.line - 1, end.line)
    .map((line, i, all) =>
      line.slice(i === 0 ? start.column - 1 : 0, i === all.length - 1 ? end.column - 1 : undefined),
    )
    .join('\n');
  return {
    file,
    line: start.line,
    code: (lines[start.line - 1] ?? '').trim(),
    original: oneLine(original),
    replacement: oneLine(mutant.replacement ?? ''),
    isCovered: mutant.status === 'Survived',
  };
}

/** @param file of the report, or one that has nothing to change and is missing there */
export function resultOf(report: MutationReport, file: string): FileResult {
  const { source, mutants } = report.files[file] ?? { source: '', mutants: [] };
  const lines = source.split('\n');
  const having = (...statuses: readonly string[]): readonly ReportedMutant[] =>
    mutants.filter(({ status }) => statuses.includes(status));
  return {
    file,
    killed: having('Killed').length,
    timeouts: having('Timeout').length,
    static: having('Ignored').length,
    errors: having('RuntimeError', 'CompileError').length,
    survivors: having('Survived', 'NoCoverage').map((mutant) => survivorOf(file, lines, mutant)),
  };
}

export const isSame = (a: Survivor | Equivalent, b: Survivor | Equivalent): boolean =>
  a.file === b.file && a.code === b.code && a.original === b.original && a.replacement === b.replacement;

export function scoreOf(results: readonly FileResult[], equivalents: readonly Equivalent[]): Score {
  const sum = (count: (result: FileResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  const survivors = results.flatMap((result) => result.survivors);
  const left = survivors.filter((survivor) => !equivalents.some((each) => isSame(each, survivor)));
  return {
    killed: sum(({ killed }) => killed),
    timeouts: sum(({ timeouts }) => timeouts),
    survived: left.filter(({ isCovered }) => isCovered).length,
    noCoverage: left.filter(({ isCovered }) => !isCovered).length,
    equivalent: survivors.length - left.length,
    static: sum((result) => result.static),
    errors: sum(({ errors }) => errors),
  };
}

/** @returns percent of the mutants that tests notice, by failing or by never ending; undefined when there were none */
export function percentOf({ killed, timeouts, survived, noCoverage }: Score): number | undefined {
  const noticed = killed + timeouts;
  const all = noticed + survived + noCoverage;
  return all === 0 ? undefined : (100 * noticed) / all;
}
