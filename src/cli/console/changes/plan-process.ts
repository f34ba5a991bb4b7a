/**
 * Plans of landscapes for the console, each by `espalier plan` in a process of its own: rendering templates and charts
 * and comparing objects would block the server, and a plan may need much memory. The process has the rights of the
 * viewer, writes nothing, and masks secrets.
 */
import { fileURLToPath } from 'node:url';
import { loaderOf, programBeside } from '../../../lib/child-program.ts';
import { Refused } from '../access.ts';
import { outputOf } from './run-program.ts';

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

/** Limits of the processes that plan. */
export interface PlanLimits {
  /** Plans at the same time, of all viewers. */
  readonly total: number;
  /** Plans at the same time, of one viewer. */
  readonly perUser: number;
  readonly timeoutMs: number;
  /** Of each process; undefined: no limit. */
  readonly memoryMiB?: number;
  /** Maximum size of a plan. */
  readonly maxBytes: number;
}

/** Each plan needs a processor and some 200 MB. */
export const standardLimits: PlanLimits = {
  total: 2,
  perUser: 2,
  timeoutMs: 120_000,
  maxBytes: 16 * 2 ** 20,
};

interface PlannerOptions {
  /** Arguments that select the cluster, the configuration and the deployers. */
  readonly planArgs: readonly string[];
  /** The program; default: this one. */
  readonly program?: readonly string[];
  readonly limits?: PlanLimits;
  /** Environment of the process; default: that of the console. */
  readonly env?: NodeJS.ProcessEnv;
}

interface PlanUser {
  /** Whose limit a plan counts for. */
  readonly id: string;
  /** Standard input of the process; undefined: the arguments select the kubeconfig. */
  readonly kubeconfig?: string;
}

const ownProgram = (): readonly string[] => {
  const entry = programBeside(import.meta.url, '../../main');
  return [...loaderOf(entry), fileURLToPath(entry)];
};

/** @returns the planner of a user; all of them share the limits */
export function createPlanners({
  planArgs,
  program = ownProgram(),
  limits = standardLimits,
  env,
}: PlannerOptions): (user: PlanUser) => Planner {
  const { total, perUser, timeoutMs, memoryMiB, maxBytes } = limits;
  /** The user of each running plan. */
  const running: string[] = [];
  const start = (id: string): void => {
    if (running.filter((other) => other === id).length >= perUser)
      throw new Refused(429, 'another plan of yours is being computed; try again when it has finished');
    if (running.length >= total)
      throw new Refused(429, 'other plans are being computed; try again when they have finished');
    running.push(id);
  };
  return ({ id, kubeconfig }) =>
    async ({ namespace, name }, signal) => {
      start(id);
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        return await outputOf({
          args: [...program, 'plan', name, '-n', namespace, '-o', 'json', ...planArgs],
          input: kubeconfig,
          env,
          maxBytes,
          memoryMiB,
          signal: AbortSignal.any([signal, limit]),
        });
      } catch (error) {
        if (!limit.aborted) throw error;
        throw new Refused(
          504,
          `the plan took longer than ${String(timeoutMs / 1000)} s; run: espalier plan ${name} -n ${namespace}`,
        );
      } finally {
        running.splice(running.indexOf(id), 1);
      }
    };
}
