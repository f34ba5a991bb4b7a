/** What Stryker's report says of a folder: counts, score, survivors. */

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
export interface Survivor {
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

/** A survivor that behaves like the original, as hack/mutate/equivalent.json lists it. */
export interface Equivalent {
  readonly file: string;
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

export interface Score {
  readonly killed: number;
  readonly timeouts: number;
  readonly survived: number;
  readonly noCoverage: number;
  readonly equivalent: number;
  /** Mutants of code that runs once on import; they are not run. */
  readonly static: number;
  /** Mutants that do not run at all. */
  readonly errors: number;
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

export function survivorsOf(report: MutationReport): readonly Survivor[] {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map((mutant) => survivorOf(file, lines, mutant));
  });
}

export const isSame = (a: Survivor | Equivalent, b: Survivor | Equivalent): boolean =>
  a.file === b.file && a.code === b.code && a.original === b.original && a.replacement === b.replacement;

/** @param survivors of the same report */
export function scoreOf(
  report: MutationReport,
  survivors: readonly Survivor[],
  equivalents: readonly Equivalent[],
): Score {
  const mutants = Object.values(report.files).flatMap((file) => file.mutants);
  const count = (...statuses: readonly string[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  const isEquivalent = (survivor: Survivor): boolean => equivalents.some((each) => isSame(each, survivor));
  const left = survivors.filter((survivor) => !isEquivalent(survivor));
  return {
    killed: count('Killed'),
    timeouts: count('Timeout'),
    survived: left.filter(({ isCovered }) => isCovered).length,
    noCoverage: left.filter(({ isCovered }) => !isCovered).length,
    equivalent: survivors.length - left.length,
    static: count('Ignored'),
    errors: count('RuntimeError', 'CompileError'),
  };
}

/** @returns percent of the mutants that tests notice, by failing or by never ending; undefined when there were none */
export function percentOf({ killed, timeouts, survived, noCoverage }: Score): number | undefined {
  const noticed = killed + timeouts;
  const all = noticed + survived + noCoverage;
  return all === 0 ? undefined : (100 * noticed) / all;
}
