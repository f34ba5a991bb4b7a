/**
 * Plays the recorded scenarios of upstream against Espalier and compares the writes.
 *
 * The recordings are outside the repository, in ../shared/traces or in the folder in ESPALIER_TRACES. Scenarios in
 * test/conformance/wire/gating.json must show no hard difference, unless that file says that they need something
 * that is not available, which is printed. The others are reported. Exit code 3: nothing can be played because
 * something is missing, the reason is printed. --out keeps the recordings of this run in a folder. --approve writes
 * the differences of this run to test/conformance/wire/differences.json, if a rule of deviations.json explains
 * them; review the change before you commit it.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findHelm } from './helm/binary.ts';
import type { Recording } from './recordings/compare.ts';
import type { Expected, Rule } from './recordings/deviations.ts';
import {
  approve,
  outcomeOf,
  showOutcome,
  showProblems,
  obsoleteDifferences,
  unusedRules,
  type Outcome,
} from './recordings/outcome.ts';
import { scenarioFile } from './recordings/scenario.ts';
import { evaluate, missingNeed, type Gating } from './trace-gates.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    envtest: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    parallel: { type: 'string', default: '4' },
    verbose: { type: 'boolean', default: false },
    out: { type: 'string' },
    approve: { type: 'boolean', default: false },
  },
});

const wire = join(root, 'test/conformance/wire');
/** More differences than this have a cause that playing again does not fix. */
const MAX_REPLAYS = 5;
/** Number of different requirements in gating.json. */
const ALL_NEEDS = 4;

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

/** Starts a process and waits until it prints a line for which `isReady` is true. */
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
    if (child.exitCode !== null || child.signalCode !== null) continue;
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
  // As in the recordings, no Kubernetes controllers run next to the API server.
  const args = [program, 'apiserver', '--write-kubeconfig', kubeconfig, '--controllers', 'none'];
  await start('espalier apiserver', args, (line) => /serving|listening|ready/i.test(line));
}

async function control(kubeconfig: string): Promise<void> {
  const config = join(work, 'config.yaml');
  writeFileSync(
    config,
    'kind: LandscaperConfiguration\ndeployItemTimeouts: {pickup: 20s}\nlimits: {remoteRetryTimeout: 5s}\nreadiness: landscaper\n',
  );
  const args = [program, 'start', '--kubeconfig', kubeconfig, '--config', config, '--log-format', 'json'];
  await start(
    'espalier start',
    args,
    (line) => line.includes('The controllers run') || line.includes('controllers started'),
  );
}

/** Plays scenarios; if the player ends early, plays the remaining ones again. The recordings are in `out`. */
async function play(
  kubeconfig: string,
  out: string,
  played: readonly string[],
  parallel: string,
): Promise<void> {
  const isLeft = (name: string): boolean => !existsSync(join(out, `${name}.json`));
  for (let left = played, round = 0; left.length > 0 && round < 3; left = left.filter(isLeft), round++) {
    if (round > 0) say(`the player ended early; playing the ${String(left.length)} that are left`);
    const files = left.map((name) => scenarioFile(name, join(traces, 'scenarios'), work));
    const args = [
      join(traces, 'play.mjs'),
      '--kubeconfig',
      kubeconfig,
      '--out',
      out,
      '--subject',
      'espalier',
    ];
    const player = spawn(process.execPath, [...args, '--parallel', parallel, ...files], {
      stdio: ['ignore', values.verbose ? 'inherit' : 'ignore', 'inherit'],
    });
    children.push(player);
    await once(player, 'exit');
  }
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

function recordingOf(folder: string, name: string): Recording {
  const file = join(folder, `${name}.json`);
  if (existsSync(file)) return readJson(file) as Recording;
  return { scenario: name, title: '', failure: 'the scenario was not played', objects: {} };
}

/** The available requirements, with the names of gating.json. */
function availableNeeds(): ReadonlySet<string> {
  return new Set([
    ...(findHelm() === undefined ? [] : ['helm']),
    ...(values.envtest ? ['authorization', 'long integers', 'admission policies'] : []),
  ]);
}

const names = readdirSync(join(traces, 'scenarios'))
  .filter((file) => file.endsWith('.mjs') && values.only.split(',').some((start) => file.startsWith(start)))
  .map((file) => file.replace(/\.mjs$/, ''))
  .sort();
if (names.length === 0) cannot(`no scenario begins with one of "${values.only}"`);
const rules = readJson(join(wire, 'deviations.json')) as readonly Rule[];
const expected = readJson(join(wire, 'differences.json')) as Expected;
const gating = readJson(join(wire, 'gating.json')) as Gating;

/** @param out folder of the recordings of this run */
const outcomesIn = (out: string, played: readonly string[]): readonly Outcome[] =>
  played.map((name) =>
    outcomeOf(name, recordingOf(join(traces, 'upstream'), name), recordingOf(out, name), rules, expected),
  );

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));

try {
  const kubeconfig = join(work, 'kubeconfig');
  await serve(kubeconfig);
  await control(kubeconfig);
  const out = resolve(values.out ?? join(work, 'out'));
  const server = values.envtest ? 'kube-apiserver' : 'embedded API server';
  say(`playing ${String(names.length)} scenarios on the ${server}`);
  await play(kubeconfig, out, names, values.parallel);
  let outcomes = outcomesIn(out, names);

  // Random names are numbered in order of their creation, so after a race between two writers they may be swapped.
  const there = availableNeeds();
  const wrong = outcomes.filter(
    ({ name, problems }) => problems.length > 0 && !missingNeed(name, gating, there),
  );
  if (wrong.length > 0 && wrong.length <= MAX_REPLAYS) {
    say(`playing again, one by one: ${wrong.map(({ name }) => name).join(', ')}`);
    for (const { name, problems } of wrong) say(showProblems(name, problems));
    const again = wrong.map(({ name }) => name);
    await play(kubeconfig, join(work, 'again'), again, '1');
    const second = outcomesIn(join(work, 'again'), again);
    outcomes = outcomes.map((each) => second.find(({ name }) => name === each.name) ?? each);
  }
  if (values.approve) {
    const held = outcomes.filter(({ name }) => !missingNeed(name, gating, there));
    approve(join(wire, 'differences.json'), held, rules, expected);
  }
  report(outcomes, there, server);
} finally {
  await stopAll();
}

function report(outcomes: readonly Outcome[], there: ReadonlySet<string>, server: string): void {
  for (const outcome of outcomes) say(showOutcome(outcome));
  const failed = outcomes.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  const { broken, exempt } = evaluate(failed, gating, there);
  for (const line of exempt) say(line);
  // If something is missing, differences may not occur for that reason.
  const isWhole = values.only === '' && there.size === ALL_NEEDS;
  const dead = isWhole ? [...unusedRules(rules, outcomes), ...obsoleteDifferences(expected, outcomes)] : [];
  for (const line of dead) say(`no longer different: ${line}`);
  const equal = outcomes.filter(
    ({ problems, deviation }) => problems.length === 0 && deviation === undefined,
  );
  const deviation = outcomes.filter(
    ({ problems, deviation: why }) => problems.length === 0 && why !== undefined,
  );
  const on = deviation.length === 0 ? '' : `, ${String(deviation.length)} intentionally end differently`;
  say(
    `${server}: ${String(equal.length)} of ${String(names.length)} scenarios without hard differences${on}`,
  );
  const verdict = broken.length === 0 ? 'all equal' : `different: ${broken.join(', ')}`;
  say(`gating (${gating.gates.join(', ')}): ${verdict}`);
  process.exitCode = broken.length === 0 && dead.length === 0 ? 0 : 1;
}
