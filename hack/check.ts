/**
 * Runs all static checks: one line per step. A failed step does not stop the others; exit code 1 if a step failed.
 *
 *     hack/check.ts [STEP…]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const tool = (path: string, ...args: string[]): readonly string[] => [
  join(root, 'node_modules', path),
  ...args,
];
const script = (path: string, ...args: string[]): readonly string[] => [
  '--import',
  'tsx',
  join(root, path),
  ...args,
];

/** The slow ones first, so that the others run in parallel to them. */
const steps: Readonly<Record<string, readonly string[]>> = {
  // Rules with types keep the types of the whole program.
  lint: [
    '--max-old-space-size=8192',
    ...tool('eslint/bin/eslint.js', 'src', 'controllers', 'deployers', 'web', 'docs/samples', 'test', 'hack'),
  ],
  format: tool('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'),
  imports: script('hack/check-imports.ts'),
  exports: script('hack/check-exports.ts'),
  phrases: script('hack/banned-phrases.ts'),
  types: tool('typescript7/bin/tsc', '-p', 'tsconfig.json', '--noEmit'),
  webtypes: tool('typescript7/bin/tsc', '-p', 'web/tsconfig.json', '--noEmit'),
  crds: script('hack/update-crds.ts', '--check'),
  schemas: script('hack/update-schemas.ts', '--check'),
  models: script('hack/update-models.ts', '--check'),
  docs: script('hack/update-docs.ts', '--check'),
  node20: script('hack/verify-node20.ts'),
};

interface Outcome {
  readonly isFine: boolean;
  readonly seconds: number;
  readonly output: string;
}

async function run(args: readonly string[]): Promise<Outcome> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: string): void => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const [code] = (await once(child, 'close')) as [number | null];
  return { isFine: code === 0, seconds: (performance.now() - startedAt) / 1000, output };
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in steps));
if (unknown.length > 0) {
  say(`there is no step ${unknown.join(', ')}; the steps are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

const waiting = Object.entries(steps).filter(([name]) => wanted.length === 0 || wanted.includes(name));
const total = waiting.length;
const failed: string[] = [];

async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, args] = next;
    const { isFine, seconds, output } = await run(args);
    if (!isFine) failed.push(name);
    say(`${isFine ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s`);
    if (!isFine) say(output.trimEnd().replace(/^/gm, '       '));
  }
}

await Promise.all(Array.from({ length: Math.min(availableParallelism(), total) }, work));
say(failed.length === 0 ? `all ${String(total)} checks passed` : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
