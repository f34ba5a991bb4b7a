/**
 * Measures with Stryker how many small changes of the product the tests notice.
 *
 *     hack/mutate/main.ts --node PATH [--concurrency N] [FOLDER or FILE of the product…]
 *
 * Folders that are measured whole get their row in docs/testing.md. Exit code 3 when Stryker cannot be installed.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { rowOf, tableOf, withScores } from './page.ts';
import { isSame, scoreOf, survivorsOf, type Equivalent, type Survivor } from './report.ts';
import { installStryker, MutationFailed, runStryker } from './stryker.ts';
import { READ_SOURCE_CODE, SUITES, type Suite } from './suites.ts';

const root = join(import.meta.dirname, '../..');
const PAGE = join(root, 'docs/testing.md');

const { values, positionals } = parseArgs({
  options: { node: { type: 'string' }, concurrency: { type: 'string', default: '2' } },
  allowPositionals: true,
});

/** What to mutate, and the suite whose tests judge it. */
interface Target {
  readonly path: string;
  readonly suite: Suite;
}

/** @throws MutationFailed for a path that no suite reaches */
function targetsOf(named: string): readonly Target[] {
  const path = named.replace(/\/+$/, '');
  const inside = SUITES.filter(({ folder }) => `${folder}/`.startsWith(`${path}/`));
  if (inside.length > 0) return inside.map((suite) => ({ path: suite.folder, suite }));
  const suite = SUITES.find(({ folder }) => path.startsWith(`${folder}/`));
  if (suite === undefined || !existsSync(join(root, path))) {
    const known = SUITES.map(({ folder }) => folder).join(', ');
    throw new MutationFailed(`"${named}" is not a folder or file in one of ${known} (hack/mutate/suites.ts)`);
  }
  return [{ path, suite }];
}

function testFilesOf(path: string): readonly string[] {
  if (path.endsWith('.ts')) return [path];
  return readdirSync(join(root, path), { recursive: true })
    .map((file) => `${path}/${String(file)}`)
    .filter((file) => file.endsWith('.test.ts') && !READ_SOURCE_CODE.includes(file))
    .sort();
}

function show(survivors: readonly Survivor[]): void {
  for (const { file, line, original, replacement, isCovered } of survivors)
    process.stdout.write(
      `${isCovered ? 'survived' : 'not covered'}: ${file}:${String(line)}: ${original} → ${replacement}\n`,
    );
}

function measure({ path, suite }: Target, node: string, packages: string): string {
  const started = performance.now();
  const isFile = statSync(join(root, path)).isFile();
  const report = runStryker({
    root,
    node,
    packages,
    mutate: [isFile ? path : `${path}/**/*.ts`],
    testFiles: suite.tests.flatMap(testFilesOf),
    concurrency: Number(values.concurrency),
  });
  const listed = JSON.parse(
    readFileSync(join(root, 'hack/mutate/equivalent.json'), 'utf8'),
  ) as readonly Equivalent[];
  const equivalents = listed.filter(({ file }) => file in report.files);
  const survivors = survivorsOf(report);
  show(survivors.filter((survivor) => !equivalents.some((each) => isSame(each, survivor))));
  for (const each of equivalents.filter((one) => !survivors.some((survivor) => isSame(one, survivor))))
    process.stdout.write(
      `${each.file}: equivalent.json lists ${each.original} → ${each.replacement}, which does not survive: remove it\n`,
    );
  const score = scoreOf(report, survivors, equivalents);
  const row = rowOf(path, score);
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stdout.write(`\n${tableOf([row])}\n${path}: ${String(seconds)} s\n`);
  if (path === suite.folder) {
    const folders = SUITES.map(({ folder }) => folder);
    writeFileSync(PAGE, withScores(readFileSync(PAGE, 'utf8'), folders, new Map([[path, row]])));
  }
  return row;
}

try {
  if (values.node === undefined)
    throw new MutationFailed('--node is missing: the path of Node.js 22 or later');
  const { node } = values;
  const named = positionals.length > 0 ? positionals : SUITES.map(({ folder }) => folder);
  const targets = named.flatMap(targetsOf);
  const packages = installStryker(root);
  const rows = targets.map((target) => measure(target, node, packages));
  process.stdout.write(`\n${tableOf(rows)}\n`);
} catch (error) {
  if (!(error instanceof MutationFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.message.startsWith('Stryker cannot be installed') ? 3 : 1;
}
