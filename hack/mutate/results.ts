/**
 * The results by file, in hack/mutate/results.json, one line for each file. A result is valid while the code of its file
 * is the measured one; types, comments and layout may change.
 */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { read, root } from './project.ts';
import { linesOf } from './sample.ts';

const FILE = 'hack/mutate/results.json';

export interface Survivor {
  readonly line: number;
  /** The line of source, without indentation. */
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
}

/** What was found out about a file. */
export interface FileResult {
  /** Digest of the measured code. */
  readonly code: string;
  /** Lines of code. */
  readonly lines: number;
  /** How many mutants each test file has noticed. */
  readonly killed: Readonly<Record<string, number>>;
  readonly survived: readonly Survivor[];
}

interface Results {
  /** Digests of the test files that have noticed mutants. */
  readonly tests: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, FileResult>>;
}

/** A survivor that behaves like the original, or that no test needs to notice, as hack/mutate/equivalent.json lists it. */
export interface Equivalent extends Omit<Survivor, 'line'> {
  readonly file: string;
  readonly reason: string;
}

export const readResults = (): Results =>
  existsSync(join(root, FILE)) ? (JSON.parse(read(FILE)) as Results) : { tests: {}, files: {} };

export const readEquivalents = (): readonly Equivalent[] =>
  JSON.parse(read('hack/mutate/equivalent.json')) as readonly Equivalent[];

export function writeResults({ tests, files }: Results): void {
  const lines = (record: Readonly<Record<string, unknown>>): string =>
    Object.entries(record)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
      .join(',\n');
  writeFileSync(join(root, FILE), `{"tests":{\n${lines(tests)}\n},"files":{\n${lines(files)}\n}}\n`);
}

/** @returns a digest of the code without types, comments and layout, or of the text of a file in another language */
export function digestOf(file: string, source: string): string {
  const options = { loader: 'ts', minifyWhitespace: true, legalComments: 'none' } as const;
  const code = file.endsWith('.ts') ? transformSync(source, options).code : source;
  return createHash('sha256').update(code).digest('hex').slice(0, 12);
}

export const isSame = (file: string, a: Survivor, b: Equivalent): boolean =>
  file === b.file && a.code === b.code && a.original === b.original && a.replacement === b.replacement;

export interface Row {
  readonly folder: string;
  readonly files: number;
  readonly killed: number;
  readonly survived: number;
  readonly equivalent: number;
  /** Lines of code in files that have changed since, or were never measured, of all lines. */
  readonly staleLines: number;
  readonly lines: number;
  /** Mutants whose only known test file has been deleted. */
  readonly orphans: number;
}

/** @param present the files of the folder with their present text */
export function rowOf(
  folder: string,
  present: ReadonlyMap<string, string>,
  results: Results,
  equivalents: readonly Equivalent[],
  hasTest: (file: string) => boolean,
): Row {
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  const measured = [...present.keys()].flatMap((file) => {
    const result = results.files[file];
    return result ? [{ file, ...result }] : [];
  });
  const survivors = measured.flatMap(({ file, survived }) => survived.map((one) => ({ file, one })));
  const equivalent = survivors.filter(({ file, one }) => equivalents.some((each) => isSame(file, one, each)));
  const killers = measured.flatMap(({ killed }) => Object.entries(killed));
  const isStale = (file: string, text: string): boolean => results.files[file]?.code !== digestOf(file, text);
  return {
    folder,
    files: present.size,
    killed: sum(killers.map(([, count]) => count)),
    survived: survivors.length - equivalent.length,
    equivalent: equivalent.length,
    staleLines: sum([...present].map(([file, text]) => (isStale(file, text) ? linesOf(text) : 0))),
    lines: sum([...present.values()].map(linesOf)),
    orphans: sum(killers.map(([test, count]) => (hasTest(test) ? 0 : count))),
  };
}

const TOLERATED = 0.1;

/** @returns why a row no longer tells the truth */
export function problemOf({ folder, lines, staleLines, killed, orphans }: Row): string | undefined {
  const percent = (part: number, of: number): string => `${String(Math.round((100 * part) / of))} %`;
  if (staleLines > lines * TOLERATED)
    return `${folder}: ${percent(staleLines, lines)} of its lines are in files that are new or have changed since they were measured`;
  if (orphans > killed * TOLERATED)
    return `${folder}: the tests that noticed ${percent(orphans, killed)} of its mutants have been deleted`;
  return undefined;
}
