// Compiles src, controllers and deployers to dist with TypeScript 7. First compares the sources with the last build
// and does nothing if they are unchanged; the compiler itself works incrementally as well.
//
//   node hack/build.mjs [--clean] [--force]
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

const SOURCES = ['src', 'controllers', 'deployers'];
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'hack/build.mjs'];
const MAIN = 'dist/src/cli/main.js';
const BUILD_INFO = 'dist/.tsbuildinfo';
const COMPILER = 'node_modules/typescript7/bin/tsc';

const isClean = process.argv.includes('--clean');
if (isClean) rmSync('dist', { recursive: true, force: true });
if (!existsSync(COMPILER)) fail('TypeScript is not installed; run: npm ci');

const sources = SOURCES.flatMap((folder) => filesIn(folder));
const outputs = new Map(sources.map((source) => [outputOf(source), source]));

removeStale();
if (!process.argv.includes('--force') && isUpToDate()) process.exit(0);

const startedAt = performance.now();
// The compiler writes only changed files, so it must not assume that deleted outputs still exist.
if ([...outputs.keys()].some((output) => !existsSync(output))) rmSync(BUILD_INFO, { force: true });
const { status, error } = spawnSync(process.execPath, [COMPILER, '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
if (status !== 0) {
  // An incomplete build must not look complete.
  rmSync(BUILD_INFO, { force: true });
  fail(error ? `cannot run TypeScript: ${error.message}` : 'the sources do not compile');
}
for (const [output, source] of outputs) {
  if (isCode(source)) continue;
  mkdirSync(dirname(output), { recursive: true });
  copyFileSync(source, output);
}
checkMain();
chmodSync(MAIN, 0o755);
console.log(`built dist in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function isCode(file) {
  return extname(file) === '.ts';
}

function outputOf(source) {
  return join('dist', isCode(source) ? source.replace(/\.ts$/, '.js') : source);
}

/** Deletes compiled files whose source was deleted or renamed. */
function removeStale() {
  for (const file of SOURCES.flatMap((folder) => filesIn(join('dist', folder)))) {
    const made = file.replace(/(\.d\.ts|\.js|\.d\.ts\.map|\.js\.map)$/, '.js');
    if (!outputs.has(made) && !outputs.has(file)) rmSync(file);
  }
}

function isUpToDate() {
  if (!existsSync(BUILD_INFO) || [...outputs.keys()].some((output) => !existsSync(output))) return false;
  const built = statSync(BUILD_INFO).mtimeMs;
  return [...sources, ...SETTINGS].every((file) => !existsSync(file) || statSync(file).mtimeMs < built);
}

/** Checks that Node can run the compiled program. */
function checkMain() {
  const text = readFileSync(MAIN, 'utf8');
  if (!text.startsWith('#!')) fail(`${MAIN} has no #! line`);
  if (/from '\.[^']*\.ts'/.test(text))
    fail(`${MAIN} imports TypeScript files; see rewriteRelativeImportExtensions`);
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
