// Compiles src, controllers and deployers to dist with TypeScript 7, and bundles the web console and the packages that the
// program needs. First compares the sources with the last build and does nothing if they are unchanged; the compiler
// itself works incrementally as well.
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
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePackages, licensesOf, packagesOf, versionsOf } from './bundle.mjs';
import { compacted } from './compact.mjs';
import { copyDeclarations } from './declarations.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

const SOURCES = ['src', 'controllers', 'deployers'];
const SETTINGS = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'hack/build.mjs',
  'hack/bundle.mjs',
  'hack/compact.mjs',
  'hack/declarations.mjs',
];
const CONSOLE = 'web/console';
const CONSOLE_OUTPUT = join('dist', CONSOLE);
const CONSOLE_FILES = ['index.html', 'console.css', 'icon.svg'];
const PROGRAMS = ['dist/src/cli/main.js', 'dist/src/cli/kubectl-complete.js'];
const BUILD_INFO = 'dist/.tsbuildinfo';
/** Names and versions of the bundled packages, for the software bill of materials. */
const BUNDLED = 'dist/bundled.json';
const COMPILER = 'node_modules/typescript7/bin/tsc';

const isClean = process.argv.includes('--clean');
if (isClean) rmSync('dist', { recursive: true, force: true });
if (!existsSync(COMPILER)) fail('TypeScript is not installed; run: npm ci');

const sources = SOURCES.flatMap((folder) => filesIn(folder));
const outputs = new Map(sources.map((source) => [outputOf(source), source]));

removeStale();
if (!process.argv.includes('--force') && isUpToDate()) process.exit(0);

const startedAt = performance.now();
const startedAtWall = Date.now();
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
for (const output of outputs.keys()) if (isNew(output)) compact(output);
checkMain();
for (const program of PROGRAMS) chmodSync(program, 0o755);
copyDeclarations();
const consoleFiles = await bundleConsole();
const programFiles = await bundlePackages([...outputs.keys()].filter((file) => file.endsWith('.js')));
const programPackages = packagesOf(programFiles);
writeFileSync('dist/licenses.txt', licensesOf(programPackages));
const bundled = versionsOf([...packagesOf(consoleFiles), ...programPackages]);
writeFileSync(BUNDLED, `${JSON.stringify(bundled, null, 2)}\n`);
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

/** Whether the compiler has just written it; it leaves unchanged files alone. */
function isNew(output) {
  return output.endsWith('.js') && statSync(output).mtimeMs >= startedAtWall;
}

function compact(file) {
  writeFileSync(file, compacted(readFileSync(file, 'utf8')));
}

function outputOf(source) {
  return join('dist', isCode(source) ? source.replace(/\.ts$/, '.js') : source);
}

/** Deletes compiled files whose source was deleted or renamed. */
function removeStale() {
  for (const file of SOURCES.flatMap((folder) => filesIn(join('dist', folder)))) {
    const made = file.replace(/(\.d\.ts|\.js)$/, '.js');
    if (!outputs.has(made) && !outputs.has(file)) rmSync(file);
  }
}

function isUpToDate() {
  const made = [BUILD_INFO, BUNDLED, join(CONSOLE_OUTPUT, 'console.js'), ...outputs.keys()];
  if (made.some((output) => !existsSync(output))) return false;
  const compiled = statSync(BUILD_INFO).mtimeMs;
  const bundled = statSync(join(CONSOLE_OUTPUT, 'console.js')).mtimeMs;
  const isOlder = (time) => (file) => !existsSync(file) || statSync(file).mtimeMs < time;
  return [...sources, ...SETTINGS].every(isOlder(compiled)) && filesIn('web').every(isOlder(bundled));
}

/** One script without source map: it is served to the browser as it is. Returns the paths of its parts. */
async function bundleConsole() {
  const { build } = await import('esbuild');
  rmSync(CONSOLE_OUTPUT, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [join(CONSOLE, 'main.tsx')],
    outfile: join(CONSOLE_OUTPUT, 'console.js'),
    tsconfig: 'web/tsconfig.json',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  }).catch(() => fail('the console cannot be bundled'));
  for (const file of CONSOLE_FILES) copyFileSync(join(CONSOLE, file), join(CONSOLE_OUTPUT, file));
  const files = Object.keys(metafile.inputs);
  writeFileSync(join(CONSOLE_OUTPUT, 'licenses.txt'), licensesOf(packagesOf(files)));
  return files;
}

/** Checks that Node can run the compiled program. */
function checkMain() {
  const [main] = PROGRAMS;
  const text = readFileSync(main, 'utf8');
  if (!text.startsWith('#!')) fail(`${main} has no #! line`);
  if (/from '\.[^']*\.ts'/.test(text))
    fail(`${main} imports TypeScript files; see rewriteRelativeImportExtensions`);
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
