/**
 * Plays the recorded scenarios of the original against Espalier and compares what was written.
 *
 * The recordings lie outside the repository, in ../shared/traces or wherever ESPALIER_TRACES points. Scenarios named in
 * test/conformance/wire/gating.json must show no hard difference, except where that file says that they need something
 * that is not there, which is printed; the others are reported. Exit code 3: without something nothing can be played,
 * the reason is printed.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findHelm } from './helm/binary.ts';
import { judge, matches, type Gating } from './trace-gates.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    envtest: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    parallel: { type: 'string', default: '4' },
    verbose: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
function cannot(reason: string): never {
  say(`traces are not played: ${reason}`);
  process.exit(3);
}

const traces = resolve(process.env['ESPALIER_TRACES'] ?? join(root, '../shared/traces'));
if (!existsSync(join(traces, 'play.mjs')))
  cannot(`there are no recordings in ${traces} (ESPALIER_TRACES points elsewhere)`);
if (spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status !== 0)
  cannot('kubectl is not on the PATH');
const program = join(root, 'dist/src/cli/main.js');
if (!existsSync(program)) cannot('dist is missing: run "make build" first');

const work = mkdtempSync(join(tmpdir(), 'espalier-traces-'));
const children: ChildProcess[] = [];

/** Starts a process and waits until it prints a line that `isReady` likes. */
async function start(
  name: string,
  args: readonly string[],
  isReady: (line: string) => boolean,
): Promise<void> {
  const helm = findHelm();
  const env = { ...process.env, ...(helm !== undefined && { HELM_EXECUTABLE: helm }) };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const lines: string[] = [];
  await new Promise<void>((ready, failed) => {
    const read = (chunk: Buffer): void => {
      for (const line of chunk.toString('utf8').split('\n')) {
        if (line !== '') lines.push(line);
        if (values.verbose && line !== '') say(`${name}: ${line}`);
        if (isReady(line)) ready();
      }
      if (lines.length > 200) lines.splice(0, lines.length - 200);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => {
      if (code === 3) cannot(lines.at(-1) ?? name);
      failed(new Error(`${name} ended with code ${String(code)}:\n${lines.slice(-20).join('\n')}`));
    });
  });
}

async function stopAll(): Promise<void> {
  for (const child of children.reverse()) {
    if (child.exitCode !== null) continue;
    child.removeAllListeners('exit');
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  rmSync(work, { recursive: true, force: true });
}

async function serve(kubeconfig: string): Promise<void> {
  if (values.envtest) {
    const args = ['--import', 'tsx', 'hack/envtest/main.ts', 'run', '--kubeconfig-out', kubeconfig];
    await start('kube-apiserver', args, (line) => line.startsWith('ready:'));
    return;
  }
  // Like the recordings: no controllers of Kubernetes itself run beside the API server.
  const args = [program, 'apiserver', '--write-kubeconfig', kubeconfig, '--controllers', 'none'];
  await start('espalier apiserver', args, (line) => /serving|listening|ready/i.test(line));
}

async function control(kubeconfig: string): Promise<void> {
  const config = join(work, 'config.yaml');
  writeFileSync(config, 'kind: LandscaperConfiguration\ndeployItemTimeouts: {pickup: 20s}\n');
  const args = [program, 'start', '--kubeconfig', kubeconfig, '--config', config, '--log-format', 'json'];
  await start(
    'espalier start',
    args,
    (line) => line.includes('The controllers run') || line.includes('the controllers run'),
  );
}

interface Verdicts {
  readonly passed: readonly string[];
  /** Those that cannot come to upstream's end here, on purpose. */
  readonly otherwise: readonly string[];
  readonly failed: readonly string[];
  readonly text: string;
}

interface Deviation {
  readonly scenario: string;
  readonly reason: string;
  /** The scenario waits for something that never happens here; what comes before it is compared all the same. */
  readonly end?: boolean;
}

/** The reason why a scenario ends otherwise, if that is all that is different. */
function whyOtherwise(name: string, block: string, deviations: readonly Deviation[]): string | undefined {
  const [, ...problems] = block.split('\n').filter((line) => line.startsWith('    ') || /^[✓✗]/.test(line));
  if (problems.length !== 1 || !problems[0]?.includes('the scenario did not get to its end:'))
    return undefined;
  return deviations.find(({ end, scenario }) => end === true && matches(scenario, name))?.reason;
}

function compare(out: string, played: readonly string[]): Verdicts {
  const file = join(root, 'test/conformance/wire/deviations.json');
  const deviations = JSON.parse(readFileSync(file, 'utf8')) as Deviation[];
  const { stdout } = spawnSync(process.execPath, [join(traces, 'compare.mjs'), '--deviations', file, out], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  const blocks = stdout.split(/\n(?=[✓✗])/).filter((block) => /^[✓✗] /.test(block));
  const named = blocks.map((block) => ({ name: /^[✓✗] ([^:\s]+)/.exec(block)?.[1] ?? '', block }));
  const mine = named
    .filter(({ name }) => played.includes(name))
    .map(({ name, block }) => {
      const reason = block.startsWith('✗') ? whyOtherwise(name, block, deviations) : undefined;
      return { name, block: reason === undefined ? block : `~ ${name}: ends otherwise, ${reason}` };
    });
  const marked = (mark: string): string[] =>
    mine.filter(({ block }) => block.startsWith(mark)).map(({ name }) => name);
  return {
    passed: marked('✓'),
    otherwise: marked('~'),
    failed: marked('✗'),
    text: mine.map(({ block }) => block).join('\n'),
  };
}

/** What scenarios may ask for, as gating.json calls it. */
function whatIsThere(): ReadonlySet<string> {
  return new Set([
    ...(findHelm() === undefined ? [] : ['helm']),
    ...(values.envtest ? ['authorization', 'long integers'] : []),
  ]);
}

const scenarios = readdirSync(join(traces, 'scenarios'))
  .filter((file) => file.endsWith('.mjs') && values.only.split(',').some((start) => file.startsWith(start)))
  .map((file) => join(traces, 'scenarios', file));
if (scenarios.length === 0) cannot(`no scenario begins with one of "${values.only}"`);

try {
  const kubeconfig = join(work, 'kubeconfig');
  await serve(kubeconfig);
  await control(kubeconfig);
  const out = join(work, 'out');
  const server = values.envtest ? 'kube-apiserver' : 'embedded API server';
  say(`playing ${String(scenarios.length)} scenarios on the ${server}`);
  const args = [join(traces, 'play.mjs'), '--kubeconfig', kubeconfig, '--out', out, '--subject', 'espalier'];
  const player = spawn(process.execPath, [...args, '--parallel', values.parallel, ...scenarios], {
    stdio: ['ignore', values.verbose ? 'inherit' : 'ignore', 'inherit'],
  });
  await once(player, 'exit');

  const names = scenarios.map((file) => file.replace(/^.*\//, '').replace(/\.mjs$/, ''));
  const { passed, otherwise, failed, text } = compare(out, names);
  say(text);
  const file = join(root, 'test/conformance/wire/gating.json');
  const gating = JSON.parse(readFileSync(file, 'utf8')) as Gating;
  const { broken, excepted } = judge(failed, gating, whatIsThere());
  for (const line of excepted) say(line);
  const on = otherwise.length === 0 ? '' : `, ${String(otherwise.length)} end otherwise on purpose`;
  say(
    `${server}: ${String(passed.length)} of ${String(names.length)} scenarios without hard differences${on}`,
  );
  say(
    `gating (${gating.gates.join(', ')}): ${broken.length === 0 ? 'all equal' : `different: ${broken.join(', ')}`}`,
  );
  process.exitCode = broken.length === 0 ? 0 : 1;
} finally {
  await stopAll();
}
