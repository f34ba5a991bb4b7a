/**
 * How long commands take against a development server with the sample landscape, including the start of Node.js. The
 * commands take turns, so that other load on the machine affects all of them; ratios are to Node.js alone.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyAll } from '../../src/cli/objects.ts';
import { sample, sampleObjects } from '../../src/cli/commands/servers/sample.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/observability/log.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/src/cli/main.js');
const ROUNDS = 20;
const POLL_MS = 50;

const installation = [sample.installation, '-n', sample.namespace];
const commands: Readonly<Record<string, readonly string[]>> = {
  'Node.js alone': ['-e', '0'],
  'espalier --version': [PROGRAM, '--version'],
  'espalier installations inspect': [PROGRAM, 'installations', 'inspect', ...installation],
  'espalier plan': [PROGRAM, 'plan', ...installation],
};

export async function benchCommands(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const server = spawn(
    process.execPath,
    [PROGRAM, 'dev', '--write-kubeconfig', kubeconfig, '--log-level', 'silent'],
    { stdio: 'ignore' },
  );
  const ended = once(server, 'exit');
  try {
    while (!existsSync(kubeconfig)) await pause();
    await installSample(kubeconfig);
    const times = measured({ ...process.env, KUBECONFIG: kubeconfig });
    const [alone = NaN] = Object.values(times);
    console.log(`\ncommands on a development server, median of ${ROUNDS} rounds`);
    for (const [what, ms] of Object.entries(times))
      console.log(
        `${what.padEnd(32)} ${(ms / 1000).toFixed(2)} s; ratio to Node.js alone ${(ms / alone).toFixed(1)}`,
      );
  } finally {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function installSample(file: string): Promise<void> {
  const client = createClient(await connect({ kubeconfig: { file }, userAgent: 'bench', clock, log }));
  try {
    await applyAll(client, await sampleObjects(readFileSync(file, 'utf8')));
  } finally {
    await client.close();
  }
  const inspect = commands['espalier installations inspect'] ?? [];
  const env = { ...process.env, KUBECONFIG: file };
  while (!run(inspect, env).startsWith('[✅ Succeeded]')) await pause();
}

/** Median times in milliseconds. */
function measured(env: NodeJS.ProcessEnv): Readonly<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round++)
    for (const [what, args] of Object.entries(commands)) {
      const startedAt = performance.now();
      run(args, env);
      (times[what] ??= []).push(performance.now() - startedAt);
    }
  return Object.fromEntries(Object.entries(times).map(([what, values]) => [what, median(values)]));
}

function run(args: readonly string[], env: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, POLL_MS));

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
