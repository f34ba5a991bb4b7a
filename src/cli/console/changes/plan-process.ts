/**
 * Plans of landscapes for the console, each by `espalier plan` in a process of its own: rendering templates and charts
 * and comparing objects would block the server, and a plan may need much memory. The process has the rights of the
 * kubeconfig that the console uses, writes nothing, and masks secrets.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { loaderOf, programBeside } from '../../../lib/child-program.ts';
import { Refused } from '../access.ts';

interface Planned {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The plan as JSON.
 * @param signal kills the process
 * @throws Refused if there is no plan
 */
export type Planner = (landscape: Planned, signal: AbortSignal) => Promise<Buffer>;

interface PlannerOptions {
  /** Arguments that select the cluster: those of the console. */
  readonly clusterArgs: readonly string[];
  /** The program; default: this one. */
  readonly program?: readonly string[];
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** Each needs a processor and some 200 MB. */
const MAX_PLANS = 2;
const TIMEOUT_MS = 120_000;
const MAX_BYTES = 16 * 2 ** 20;
const MAX_ERROR_BYTES = 8 * 1024;

const ownProgram = (): readonly string[] => {
  const entry = programBeside(import.meta.url, '../../main');
  return [...loaderOf(entry), fileURLToPath(entry)];
};

export function createPlanner({
  clusterArgs,
  program = ownProgram(),
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_BYTES,
}: PlannerOptions): Planner {
  let running = 0;
  return async ({ namespace, name }, signal) => {
    if (running >= MAX_PLANS)
      throw new Refused(429, 'other plans are being computed; try again when they have finished');
    running++;
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const args = [...program, 'plan', name, '-n', namespace, '-o', 'json', ...clusterArgs];
      return await outputOf(args, { maxBytes, signal: AbortSignal.any([signal, limit]) });
    } catch (error) {
      if (!limit.aborted) throw error;
      throw new Refused(
        504,
        `there is no plan after ${String(timeoutMs / 1000)} s; run: espalier plan ${name} -n ${namespace}`,
      );
    } finally {
      running--;
    }
  };
}

/** Standard output of a program of Node.js. @throws Refused with standard error if there is no output */
function outputOf(
  args: readonly string[],
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    const output: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxBytes) child.kill('SIGKILL');
      else output.push(part);
    });
    child.stderr.on('data', (part: Buffer) => {
      errors = (errors + part.toString()).slice(-MAX_ERROR_BYTES);
    });
    child.on('error', reject);
    child.on('close', () => {
      if (bytes > maxBytes) reject(new Refused(413, 'the plan is too large for the console'));
      else if (bytes > 0) resolve(Buffer.concat(output));
      else reject(new Refused(502, errorIn(errors)));
    });
  });
}

const MARK = 'error: ';

/** The message of the program, without its mark. */
function errorIn(text: string): string {
  const lines = text.trim().split('\n');
  const message = lines.findLast((line) => line.startsWith(MARK))?.slice(MARK.length) ?? lines.at(-1);
  return message || 'the program that plans ended without a plan';
}
