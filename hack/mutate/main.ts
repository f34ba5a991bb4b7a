/**
 * Measures how many small changes of the product the tests notice.
 *
 *     hack/mutate/main.ts [--changed | --survivors | --list] [--near] [--processes N] [FOLDER or FILE of the product…]
 *
 * --changed measures only files whose code, or whose tests, have changed since they were measured; --survivors tries the
 * mutants again that no test noticed; --near tries only the tests that are nearest to the code; --list prints the stored
 * survivors. Writes hack/mutate/results.json and docs/mutation.md.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure, type Verdict } from './measure.ts';
import { mutationPage, percentOf, presentRows } from './page.ts';
import { prepare, type Sampled } from './prepare.ts';
import { filesOf, folders, read, root } from './project.ts';
import {
  digestOf,
  isSame,
  readEquivalents,
  readResults,
  writeResults,
  type FileResult,
  type Survivor,
} from './results.ts';
import { linesOf, oneLine } from './sample.ts';

const { values, positionals } = parseArgs({
  options: {
    changed: { type: 'boolean', default: false },
    survivors: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    near: { type: 'boolean', default: false },
    processes: { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const before = readResults();
const testDigest = (file: string): string => digestOf(file, read(file));

/** The code of a file has changed, or a test that noticed its mutants. */
function hasChanged(file: string): boolean {
  const result = before.files[file];
  if (result?.code !== digestOf(file, read(file))) return true;
  return Object.keys(result.killed).some(
    (test) => !existsSync(join(root, test)) || before.tests[test] !== testDigest(test),
  );
}

/** @returns the files of the product that the command line names */
function namedFiles(): readonly string[] {
  const all = folders().flatMap(filesOf);
  const isBelow = (file: string, path: string): boolean =>
    `${file}/`.startsWith(`${path.replace(/\/+$/, '')}/`);
  const unknown = positionals.find((path) => !all.some((file) => isBelow(file, path)));
  if (unknown !== undefined) {
    process.stderr.write(`"${unknown}" is not a folder or file in one of ${folders().join(', ')}\n`);
    process.exit(1);
  }
  return all.filter((file) => positionals.length === 0 || positionals.some((path) => isBelow(file, path)));
}

function survivorOf({ mutant, source }: Sampled): Survivor {
  const lineStart = source.lastIndexOf('\n', mutant.start) + 1;
  return {
    line: source.slice(0, mutant.start).split('\n').length,
    code: (source.slice(lineStart).split('\n', 1)[0] ?? '').trim(),
    original: oneLine(source.slice(mutant.start, mutant.end)),
    replacement: oneLine(mutant.replacement),
  };
}

/** The mutant survived when its file was measured. */
function hasSurvived(sampled: Sampled): boolean {
  const file = sampled.file;
  const survived = before.files[file]?.survived ?? [];
  return survived.some((one) => isSame(file, survivorOf(sampled), { ...one, file, reason: '' }));
}

async function run(chosen: readonly string[]): Promise<void> {
  const sampled = prepare(chosen).filter((each) => !values.survivors || hasSurvived(each));
  const byFile = new Map<string, Sampled[]>();
  for (const each of sampled) byFile.set(each.file, [...(byFile.get(each.file) ?? []), each]);
  say(`${String(sampled.length)} mutants in ${String(chosen.length)} files`);
  const files: Record<string, FileResult> = { ...before.files };
  const tests: Record<string, string> = { ...before.tests };
  for (const file of Object.keys(files)) if (!existsSync(join(root, file))) delete files[file];

  /** Stores the results of files whose mutants have all been tried. */
  const keep = (verdicts: ReadonlyMap<number, Verdict>): void => {
    for (const file of chosen) {
      const mutants = byFile.get(file) ?? [];
      if (mutants.some(({ id }) => !verdicts.has(id))) continue;
      const killed: Record<string, number> = values.survivors ? { ...before.files[file]?.killed } : {};
      for (const { id } of mutants) {
        const killer = verdicts.get(id)?.killer;
        if (killer === undefined) continue;
        killed[killer] = (killed[killer] ?? 0) + 1;
        tests[killer] = testDigest(killer);
      }
      const source = mutants[0]?.source ?? read(file);
      const survived = mutants.filter(({ id }) => verdicts.get(id)?.killer === undefined).map(survivorOf);
      files[file] = { code: digestOf(file, source), lines: linesOf(source), killed, survived };
    }
    writeResults({ tests, files });
  };
  await measure(sampled, { processes: Number(values.processes), isNearOnly: values.near }, { say, keep });
  writeFileSync(join(root, 'docs/mutation.md'), mutationPage());
}

function list(chosen: readonly string[]): void {
  const { files } = readResults();
  const equivalents = readEquivalents();
  for (const file of chosen) {
    const survived = files[file]?.survived ?? [];
    for (const one of survived.filter((each) => !equivalents.some((other) => isSame(file, each, other))))
      say(`${file}:${String(one.line)}: ${one.original} → ${one.replacement || 'nothing'}`);
    const isUnused = (each: (typeof equivalents)[number]): boolean =>
      each.file === file && !survived.some((one) => isSame(file, one, each));
    for (const { original, replacement } of equivalents.filter(isUnused))
      say(`${file}: equivalent.json lists ${original} → ${replacement}, which does not survive: remove it`);
  }
  for (const row of presentRows())
    if (chosen.some((file) => file.startsWith(`${row.folder}/`))) say(`${row.folder}: ${percentOf(row)}`);
}

/** The files that the options choose. */
function isDue(file: string): boolean {
  if (values.changed) return hasChanged(file);
  const result = before.files[file];
  return !values.survivors || (result?.code === digestOf(file, read(file)) && result.survived.length > 0);
}

const named = namedFiles();
if (!values.list) await run(named.filter(isDue));
list(named);
// Servers of tests whose process was killed keep nothing alive here.
process.exit(0);
