/**
 * Measures with Stryker how many small changes of the product the tests notice.
 *
 *     hack/mutate/main.ts --node PATH [--concurrency N] [--changed] [FOLDER or FILE of the product…]
 *
 * The results of all runs are kept by file. A folder gets its row in docs/testing.md as soon as each of its files has a
 * result for its present code. With --changed, files that have one are not measured again. Exit code 3 when Stryker
 * cannot be installed.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { rowOf, tableOf, withScores } from './page.ts';
import { isSame, resultOf, scoreOf, type Equivalent, type FileResult } from './report.ts';
import { StoredResults } from './results.ts';
import { installStryker, MutationFailed, runStryker } from './stryker.ts';
import { READ_SOURCE_CODE, SLOW, SUITES, type Suite } from './suites.ts';

const root = join(import.meta.dirname, '../..');
const PAGE = join(root, 'docs/testing.md');
const stored = new StoredResults(root);
const equivalents = JSON.parse(
  readFileSync(join(root, 'hack/mutate/equivalent.json'), 'utf8'),
) as readonly Equivalent[];

const { values, positionals } = parseArgs({
  options: {
    node: { type: 'string' },
    concurrency: { type: 'string', default: '2' },
    changed: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const countOf = ({ length }: readonly string[]): string =>
  length === 1 ? '1 file' : `${String(length)} files`;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** @returns the files that lie below a folder, or the file that is named itself */
function filesOf(path: string, ending: string): readonly string[] {
  if (path.endsWith('.ts')) return [path];
  return readdirSync(join(root, path), { recursive: true })
    .map((file) => `${path}/${String(file)}`)
    .filter((file) => file.endsWith(ending))
    .sort();
}

/** @throws MutationFailed for a path that no suite reaches */
function assertMeasurable(named: readonly string[]): void {
  const isMeasurable = (path: string): boolean =>
    existsSync(join(root, path)) && SUITES.some((suite) => productFilesOf(suite, [path]).length > 0);
  const wrong = named.find((path) => !isMeasurable(path));
  if (wrong === undefined) return;
  const known = SUITES.map(({ folder }) => folder).join(', ');
  throw new MutationFailed(`"${wrong}" is not a folder or file in one of ${known} (hack/mutate/suites.ts)`);
}

/** @returns the files of the suite's folder that the named paths include */
function productFilesOf(suite: Suite, named: readonly string[]): readonly string[] {
  return filesOf(suite.folder, '.ts').filter((file) =>
    named.some((path) => `${file}/`.startsWith(`${path.replace(/\/+$/, '')}/`)),
  );
}

/** @returns those that import one of the measured files first: they notice most, and a mutant ends with the first failure */
function testFilesOf(suite: Suite, measured: readonly string[]): readonly string[] {
  const isDirect = (test: string): boolean => {
    const text = readFileSync(join(root, test), 'utf8');
    return measured.some((file) => text.includes(`/${file}'`));
  };
  const tests = suite.tests
    .flatMap((path) => filesOf(path, '.test.ts'))
    .filter((file) => !READ_SOURCE_CODE.includes(file));
  const direct = tests.filter(isDirect);
  return [...direct, ...tests.filter((test) => !direct.includes(test) && !SLOW.includes(test))];
}

function measure(suite: Suite, files: readonly string[], node: string): void {
  const started = performance.now();
  const report = runStryker({
    root,
    node,
    packages: installStryker(root),
    mutate: files,
    testFiles: testFilesOf(suite, files),
    concurrency: Number(values.concurrency),
  });
  for (const file of files) {
    const source = report.files[file]?.source ?? readFileSync(join(root, file), 'utf8');
    stored.write(resultOf(report, file), source);
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  say(`${suite.folder}: measured ${countOf(files)} in ${String(seconds)} s`);
}

function show(results: readonly FileResult[]): void {
  for (const result of results) {
    const listed = equivalents.filter(({ file }) => file === result.file);
    for (const survivor of result.survivors.filter((one) => !listed.some((each) => isSame(each, one)))) {
      const { file, line, original, replacement, isCovered } = survivor;
      say(`${isCovered ? 'survived' : 'not covered'}: ${file}:${String(line)}: ${original} → ${replacement}`);
    }
    for (const each of listed.filter((one) => !result.survivors.some((survivor) => isSame(one, survivor))))
      say(
        `${each.file}: equivalent.json lists ${each.original} → ${each.replacement}, which does not survive: remove it`,
      );
  }
  const rows = results.map((result) => rowOf(result.file, scoreOf([result], equivalents)));
  say(`\n${tableOf([...rows, rowOf('total', scoreOf(results, equivalents))])}\n`);
}

/** Writes the row of a folder, when all of its files have a result. */
function updatePage({ folder }: Suite): void {
  const files = filesOf(folder, '.ts');
  const results = files.flatMap((file) => stored.read(file) ?? []);
  if (results.length < files.length) {
    const missing = String(files.length - results.length);
    say(`${folder}: no new row yet, since ${missing} of ${countOf(files)} are not measured or have changed`);
    return;
  }
  const row = rowOf(folder, scoreOf(results, equivalents));
  const folders = SUITES.map((suite) => suite.folder);
  writeFileSync(PAGE, withScores(readFileSync(PAGE, 'utf8'), folders, new Map([[folder, row]])));
  say(`${tableOf([row])}\n`);
}

try {
  const { node } = values;
  if (node === undefined) throw new MutationFailed('--node is missing: the path of Node.js 22 or later');
  const named = positionals.length > 0 ? positionals : SUITES.map(({ folder }) => folder);
  assertMeasurable(named);
  for (const suite of SUITES) {
    const files = productFilesOf(suite, named);
    if (files.length === 0) continue;
    const due = files.filter((file) => !values.changed || stored.read(file) === undefined);
    if (due.length > 0) measure(suite, due, node);
    show(files.flatMap((file) => stored.read(file) ?? []));
    updatePage(suite);
  }
} catch (error) {
  if (!(error instanceof MutationFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.message.startsWith('Stryker cannot be installed') ? 3 : 1;
}
