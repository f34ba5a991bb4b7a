/** Runs a deployer in another language to ask it for a plan: request on standard input, response on standard output. */
import { spawn } from 'node:child_process';
import type { Clock } from '../../src/lib/clock.ts';
import { killGroup } from '../../src/lib/process-tree.ts';
import type { ItemPlan } from './item-plan.ts';
import { PlanRefused, readResponse, requestText, type PlanRequest } from './plan-protocol.ts';

/** The last argument of the program, with which it plans instead of running. */
const PLAN_ARGUMENT = 'plan';
const PLAN_TIMEOUT_SECONDS = 60;
const MAX_RESPONSE_MIB = 16;
const MAX_RESPONSE_BYTES = MAX_RESPONSE_MIB * 2 ** 20;
/** Of the output on standard error, which messages show. */
const MAX_SHOWN_CHARACTERS = 500;

interface Environment {
  readonly clock: Clock;
  /** Ends the program. */
  readonly signal: AbortSignal;
}

/**
 * Asks a program for the plan of one deploy item. The program is ended after 60 s, or when its response exceeds 16 MiB.
 * @param command the program and its arguments
 * @throws PlanUnknown if the deployer cannot determine the changes; PlanRefused; the reason of the signal
 */
export async function planOfProgram(
  command: readonly string[],
  request: PlanRequest,
  environment: Environment,
): Promise<ItemPlan> {
  const origin = `the deployer "${command.join(' ')}"`;
  const output = await outputOf(command, requestText(request), origin, environment);
  return readResponse(output, origin);
}

function outputOf(
  [program = '', ...args]: readonly string[],
  input: string,
  origin: string,
  { clock, signal }: Environment,
): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(program, [...args, PLAN_ARGUMENT], {
    detached: true, // starts a process group, so that a wrapper script and its child are ended together
  });
  const endAll = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const output: Buffer[] = [];
  let size = 0;
  let errors = '';
  return new Promise<string>((resolve, reject) => {
    const fail = (error: Error): void => {
      endAll();
      reject(error);
    };
    const cancel = clock.at(clock.now() + PLAN_TIMEOUT_SECONDS * 1000, () => {
      fail(new PlanRefused(`${origin} did not respond within ${String(PLAN_TIMEOUT_SECONDS)} s`));
    });
    const onAbort = (): void => {
      fail(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_RESPONSE_BYTES) output.push(chunk);
      else fail(new PlanRefused(`the response of ${origin} exceeds ${String(MAX_RESPONSE_MIB)} MiB`));
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      errors = (errors + chunk).slice(-MAX_SHOWN_CHARACTERS);
    });
    child.stdin.on('error', () => undefined); // a program need not read the request
    child.once('error', (error) => {
      fail(new PlanRefused(`${origin} cannot be started: ${startProblem(error, program)}`));
    });
    child.once('exit', endAll);
    child.once('close', (code, ended) => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      if (code === 0) resolve(Buffer.concat(output).toString('utf8'));
      else
        reject(
          new PlanRefused(`${origin} ended with ${ended ?? `exit code ${String(code)}`}${shown(errors)}`),
        );
    });
    child.stdin.end(input);
  });
}

const shown = (errors: string): string => (errors.trim() === '' ? '' : `: ${errors.trim()}`);

const startProblem = (error: NodeJS.ErrnoException, program: string): string => {
  switch (error.code) {
    case 'ENOENT':
      return `there is no program ${program}`;
    case 'EACCES':
      return `${program} is not executable`;
    default:
      return error.message;
  }
};
