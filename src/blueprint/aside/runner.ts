/** Does the work of templates in threads of its own, so that nothing a user writes holds up the controllers. */
import type { Clock } from '../../lib/clock.ts';
import { TemplateStopped } from '../../templating/errors.ts';
import { DEFAULT_LIMITS, type TemplateLimits } from '../../templating/budget.ts';
import { fromWire } from '../../templating/worker/errors-on-the-wire.ts';
import { WorkerPool, WorkStopped } from '../../templating/worker/pool.ts';
import { MappingFailed } from '../mapping.ts';
import type { SchemaVerdict } from '../jsonschema.ts';
import type { Rendering } from '../../templating/render.ts';
import type { TemplateRunner, WorkKind } from '../work.ts';
import { unpack } from './parcels.ts';
import { errorClasses, packJob, type AnyJob, type WireAnswer } from './work-on-the-wire.ts';

export interface AsideOptions {
  readonly clock: Clock;
  readonly limits?: Partial<TemplateLimits> | undefined;
  /** Threads; 1 when not given. */
  readonly workers?: number | undefined;
  /** Heap of a thread; 256 when not given. */
  readonly memoryMiB?: number | undefined;
}

export interface AsideRunner extends TemplateRunner {
  close(): Promise<void>;
}

const DEFAULT_WORKERS = 1;
const DEFAULT_MEMORY_MIB = 256;
/** The engines keep the time limit themselves, and know the place; the thread is stopped when they cannot look. */
const GRACE_MS = 500;
/** For the first job of a thread, which loads its code. */
const START_MS = 5_000;
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? 'entry.ts' : 'entry.js', import.meta.url);

/** Threads start with the first job. */
export function asideRunner({ clock, limits = {}, workers, memoryMiB }: AsideOptions): AsideRunner {
  const memory = memoryMiB ?? DEFAULT_MEMORY_MIB;
  const timeoutMs = limits.timeoutMs ?? DEFAULT_LIMITS.timeoutMs;
  const pool = new WorkerPool({
    ...{ entry: ENTRY, clock, memoryMiB: memory, data: limits },
    ...{ size: workers ?? DEFAULT_WORKERS, startMs: START_MS },
  });
  const run = async <T>(kind: WorkKind, job: AnyJob): Promise<T> => {
    const { work, parcels } = packJob(kind, job);
    const answer = (await pool.run(work, { parcels, timeoutMs: timeoutMs + GRACE_MS })) as WireAnswer;
    if ('error' in answer) throw fromWire(answer.error, errorClasses);
    return unpack(answer.result) as T;
  };
  /** What a stop means, as the sentence for the user. @throws what is no stop, or nobody's fault */
  const sentence = (error: unknown, what: string): string => {
    if (!(error instanceof WorkStopped)) throw error;
    switch (error.reason) {
      case 'time':
        return `${what} was stopped because it takes longer than ${String(timeoutMs)} ms; templating.timeout of the configuration allows more`;
      case 'memory':
        return `${what} was stopped because it needs more than ${String(memory)} MiB of memory; templating.memoryMiB of the configuration allows more`;
      default:
        throw error;
    }
  };
  return {
    render: (job) =>
      run<Rendering>('render', job).catch((error: unknown) => {
        throw new TemplateStopped(sentence(error, `execution "${job.execution.name ?? ''}"`), {
          cause: error,
        });
      }),
    map: (job) =>
      run('map', job).catch((error: unknown) => {
        throw new MappingFailed(job.reason, `unable to template ${sentence(error, job.what)}`, {
          cause: error,
        });
      }),
    check: (job) =>
      run('check', job).catch((error: unknown) => ({
        kind: 'unusable',
        message: sentence(error, 'the validation against the schema'),
      })) as Promise<SchemaVerdict>,
    close: () => pool.close(),
  };
}
