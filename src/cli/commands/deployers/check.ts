/** `espalier deployers check`: runs the conformance suite against a deployer. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkDeployer,
  readSubject,
  startTestCluster,
  SubjectError,
  type CheckResult,
  type Subject,
} from '../../../../deployers/testing/index.ts';
import { checks } from '../../../../deployers/testing/checks.ts';
import { hintFor } from '../../../lib/closest.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import { readTextFile } from '../../files.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface CheckOptions {
  readonly kubeconfig?: string;
  readonly only?: readonly string[];
  readonly patience?: number;
}

/**
 * @param command starts the deployer, which finds the cluster in KUBECONFIG
 * @returns 1 if a check has failed
 */
export async function check(
  file: string,
  command: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  const subject = subjectIn(file);
  refuseUnknown(options.only);
  const interruption = onInterrupt();
  try {
    const interrupted = aborted(interruption.signal).then(() => {
      throw new CommandError('interrupted');
    });
    interrupted.catch(() => undefined); // the signal may arrive while the cluster is starting
    return await checkIn(await clusterFor(options, command), {
      subject,
      command,
      options,
      terminal,
      interrupted,
    });
  } finally {
    interruption.release();
  }
}

function refuseUnknown(names: readonly string[] = []): void {
  const known = checks.map(({ name }) => name);
  const unknownName = names.find((name) => !known.includes(name));
  if (unknownName === undefined) return;
  throw new UsageError(
    `there is no check ${unknownName}; ${hintFor(unknownName, known, `there are ${known.join(', ')}`)}`,
  );
}

interface Inspection {
  readonly subject: Subject;
  readonly command: readonly string[];
  readonly options: CheckOptions;
  readonly terminal: Terminal;
  /** Rejects if the user interrupts the command; the checks then end. */
  readonly interrupted: Promise<never>;
}

/** Runs the checks; stops the deployer and deletes the temporary folder in any case. */
async function checkIn(
  place: CheckEnvironment,
  { subject, command, options, terminal, interrupted }: Inspection,
): Promise<number> {
  try {
    const deployer = command.length > 0 ? start(command, place.kubeconfigFile) : undefined;
    try {
      terminal.print(`Deploy items of type ${subject.type}`);
      const checking = new AbortController();
      const failed = Promise.race([interrupted, ...(deployer ? [deployer.died] : [])]);
      failed.catch((error: unknown) => {
        checking.abort(error);
      });
      const results = await checkDeployer(subject, {
        kubeconfig: place.kubeconfig,
        signal: checking.signal,
        command,
        onResult: (verdict) => {
          terminal.print(line(verdict, terminal));
        },
        ...(options.only && { only: options.only }),
        ...(options.patience !== undefined && { patienceMs: options.patience * 1000 }),
      });
      return summary(results, terminal);
    } finally {
      await deployer?.stop();
    }
  } finally {
    await place.stop();
  }
}

function subjectIn(file: string): Subject {
  const text = readTextFile(file);
  try {
    return readSubject(text, file);
  } catch (error) {
    if (error instanceof SubjectError) throw new UsageError(error.message);
    throw error;
  }
}

interface CheckEnvironment {
  readonly kubeconfig: string;
  readonly kubeconfigFile: string;
  stop(): Promise<void>;
}

const OWNER_ONLY = 0o600;

async function clusterFor(
  { kubeconfig: file }: CheckOptions,
  command: readonly string[],
): Promise<CheckEnvironment> {
  if (file !== undefined) {
    return {
      kubeconfig: readTextFile(file),
      kubeconfigFile: file,
      stop: () => Promise.resolve(),
    };
  }
  if (command.length === 0) {
    throw new UsageError(
      'no deployer given; name its cluster with --kubeconfig, or write the command that starts it after --',
    );
  }
  const { kubeconfig, stop } = await startTestCluster();
  const folder = mkdtempSync(join(tmpdir(), 'espalier-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigFile, kubeconfig, { mode: OWNER_ONLY });
  return {
    kubeconfig,
    kubeconfigFile,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// ---------------------------------------------------------------- the deployer's process

interface StartedDeployer {
  /** Rejects if the process ends before it is stopped. */
  readonly died: Promise<never>;
  stop(): Promise<void>;
}

const STOP_WITHIN_MS = 10_000;

/** Redirects the output of the deployer to standard error. */
function start([program = '', ...args]: readonly string[], kubeconfigFile: string): StartedDeployer {
  const child = spawn(program, args, {
    stdio: ['ignore', process.stderr, process.stderr],
    detached: true, // starts a process group, because `npm start` and the like do not forward signals
    env: { ...process.env, KUBECONFIG: kubeconfigFile },
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      resolve(`cannot be started: ${error.message}`);
    });
    child.once('exit', (code, signal) => {
      resolve(`ended with ${signal ?? `exit code ${String(code)}`}`);
    });
  });
  const died = ended.then((how) => {
    throw new CommandError(`${program} ${how}`);
  });
  died.catch(() => undefined); // the caller may have stopped waiting
  return { died, stop: () => stopProcess(child) };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const group = -child.pid;
  const exit = once(child, 'exit');
  process.kill(group, 'SIGTERM');
  const kill = setTimeout(() => process.kill(group, 'SIGKILL'), STOP_WITHIN_MS);
  await exit;
  clearTimeout(kill);
}

// ---------------------------------------------------------------- output

function line({ name, sentence, verdict, why, took }: CheckResult, { paint }: Terminal): string {
  switch (verdict) {
    case 'passed':
      return `${paint.green('✓')} ${sentence} ${paint.dim(`${name}, ${String(took)} ms`)}`;
    case 'failed':
      return `${paint.red('✗')} ${sentence} ${paint.dim(name)}\n    ${why ?? ''}`;
    case 'skipped':
      return `${paint.yellow('-')} ${sentence} ${paint.dim(name)}\n    not tried: ${why ?? ''}`;
  }
}

function summary(results: readonly CheckResult[], terminal: Terminal): number {
  const count = (wanted: CheckResult['verdict']): number =>
    results.filter(({ verdict }) => verdict === wanted).length;
  const skipped = count('skipped');
  const rest = skipped > 0 ? `, ${String(skipped)} skipped` : '';
  terminal.print(`${String(count('passed'))} passed, ${String(count('failed'))} failed${rest}`);
  return count('failed') === 0 && count('passed') > 0 ? exitCodes.ok : exitCodes.failed;
}
