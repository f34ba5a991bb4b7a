/** Runs the work of templates in separate processes, so nothing a user writes blocks or ends the controllers. */
import { UnreadableDeployItems } from '../../api/kinds/execution.ts';
import { programBeside } from '../../lib/child-program.ts';
import type { Clock } from '../../lib/clock.ts';
import { BYTES_OF_VALUE } from '../../lib/json-scan.ts';
import { TemplateStopped } from '../../templating/errors.ts';
import { DEFAULT_LIMITS, type TemplateLimits } from '../../templating/budget.ts';
import { ChartStopped } from '../../templating/helm/errors.ts';
import { withLookups, type RoundResult } from '../../templating/helm/lookups.ts';
import type { ChartObjects, ChartRunner } from '../../templating/helm/work.ts';
import { nameOf } from '../../components/descriptor.ts';
import type { DescriptorRunner } from '../../components/descriptor-work.ts';
import {
  isShort,
  MAX_BYTES_HERE,
  readTexts,
  TextsTooLarge,
  type ReadText,
  type TextsJob,
} from '../../lib/yaml-texts.ts';
import { ContentInvalid } from '../../components/errors.ts';
import { fromWire } from '../../templating/worker/errors-on-the-wire.ts';
import { cpuTimeOf } from '../../templating/worker/cpu-time.ts';
import { WorkerPool } from '../../templating/worker/pool.ts';
import { WorkStopped } from '../../templating/worker/worker-process.ts';
import { isQuick, namesHere, NamesNotMatched, type NameMatches, type NamesJob } from '../match-names.ts';
import type { UnpackedItems } from '../unpack-items.ts';
import { MappingFailed } from '../mapping.ts';
import type { SchemaVerdict } from '../json-schema.ts';
import type { Rendering } from '../../templating/render.ts';
import type { RunnerOf, WorkKind } from '../work.ts';
import { unpack } from './messages.ts';
import { errorClasses, packJob, type AnyJob, type WireAnswer } from './wire.ts';

export interface WorkerOptions {
  readonly clock: Clock;
  readonly limits?: Partial<TemplateLimits> | undefined;
  /** Number of processes; default 2. */
  readonly workers?: number | undefined;
  /** Heap of a process in MiB; default 192. */
  readonly memoryMiB?: number | undefined;
}

/** Processes that all namespaces share in turn. */
export interface WorkerRunners {
  readonly of: RunnerOf;
  close(): Promise<void>;
}

const DEFAULT_WORKERS = 2;
/** Two workers at their limit and the rest of a busy process stay below the 1 GiB of the pods of `espalier install`. */
const DEFAULT_MEMORY_MIB = 192;
/** The engines check the time limit themselves and know the position; the worker is stopped when they cannot check. */
const GRACE_MS = 500;
const ENTRY = programBeside(import.meta.url, 'entry');

/** The result was left in the worker. */
class ResultTooLarge extends Error {}

interface WorkerLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** In MiB. */
  readonly memory: number;
}

/**
 * The message for users about stopped work.
 * @throws any other error, and stops that the work did not cause, which are retried
 */
function whyStopped(error: unknown, what: string, { timeoutMs, maxBytes, memory }: WorkerLimits): string {
  if (error instanceof ResultTooLarge) {
    return `${what} was stopped because its result is larger than ${String(maxBytes)} bytes, where a value counts at least ${String(BYTES_OF_VALUE)}; templating.maxOutputBytes of the configuration allows more`;
  }
  if (!(error instanceof WorkStopped)) throw error;
  switch (error.reason) {
    case 'time':
      return `${what} was stopped because it takes longer than ${String(timeoutMs)} ms; templating.timeout of the configuration allows more`;
    case 'memory':
      return `${what} was stopped because it needs more than ${String(memory)} MiB of memory; templating.memoryMiB of the configuration allows more`;
    default:
      throw error;
  }
}

type RunJob = <T>(kind: WorkKind, job: AnyJob) => Promise<T>;

/**
 * Reads short texts in this thread, unless aliases make them long.
 * @param sentence describes why the work was stopped; rethrows other errors
 */
async function readTextsNear(
  job: TextsJob,
  inWorker: () => Promise<readonly ReadText[]>,
  sentence: (error: unknown, what: string) => string,
): Promise<readonly ReadText[]> {
  if (isShort(job)) {
    try {
      return readTexts(job, MAX_BYTES_HERE);
    } catch (error) {
      if (!(error instanceof TextsTooLarge)) throw error;
    }
  }
  return inWorker().catch((error: unknown) => {
    if (!(error instanceof WorkStopped) && !(error instanceof ResultTooLarge)) throw error;
    throw new TextsTooLarge(sentence(error, 'reading it as YAML'), { cause: error });
  });
}

/** @param sentence describes why the work was stopped; rethrows other errors */
function descriptorRunner(run: RunJob, sentence: (error: unknown, what: string) => string): DescriptorRunner {
  const withReason = <T>(work: Promise<T>, what: string): Promise<T> =>
    work.catch((error: unknown) => {
      if (!(error instanceof WorkStopped) && !(error instanceof ResultTooLarge)) throw error;
      throw new ContentInvalid(sentence(error, what), { cause: error });
    });
  return {
    readDescriptor: (job) => withReason(run('readDescriptor', job), `reading ${job.what}`),
    verifyReference: (job) =>
      withReason(run('verifyReference', job), `comparing component ${nameOf(job.target)} with its digest`),
    verifySignature: (job) =>
      withReason(
        run('verifySignature', job),
        `comparing component ${nameOf(job.component)} with its signature`,
      ),
  };
}

/** Matches names in this thread if the expression is plain and short. */
async function matchNamesNear(
  job: NamesJob,
  elsewhere: () => Promise<NameMatches | null>,
  sentence: (error: unknown, what: string) => string,
): Promise<NameMatches> {
  if (isQuick(job)) return namesHere.matchNames(job);
  try {
    return (await elsewhere()) ?? undefined;
  } catch (error) {
    throw new NamesNotMatched(sentence(error, 'the regular expression to filter names'), { cause: error });
  }
}

/** Workers start with the first job. */
export function workerRunners({
  clock,
  limits = {},
  workers = DEFAULT_WORKERS,
  memoryMiB = DEFAULT_MEMORY_MIB,
}: WorkerOptions): WorkerRunners {
  const { timeoutMs, maxOutputBytes: maxBytes } = { ...DEFAULT_LIMITS, ...limits };
  const pool = new WorkerPool({ entry: ENTRY, clock, cpuTimeOf, memoryMiB, data: limits, size: workers });
  const cpuMs = timeoutMs + GRACE_MS;
  const runIn = async <T>(namespace: string, kind: WorkKind, job: AnyJob): Promise<T> => {
    const answer = (await pool.run(() => packJob(kind, job), { namespace, cpuMs })) as WireAnswer;
    if ('error' in answer) throw fromWire(answer.error, errorClasses);
    if ('tooLarge' in answer) throw new ResultTooLarge();
    return unpack(answer.result) as T;
  };
  const sentence = (error: unknown, what: string): string =>
    whyStopped(error, what, { timeoutMs, maxBytes, memory: memoryMiB });
  const ofChart = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (!(error instanceof WorkStopped) && !(error instanceof ResultTooLarge)) throw error;
      throw new ChartStopped(sentence(error, 'rendering the chart'), { cause: error });
    });
  const runnerOf: RunnerOf = (namespace) => ({
    render: (job) =>
      runIn<Rendering>(namespace, 'render', job).catch((error: unknown) => {
        throw new TemplateStopped(sentence(error, `execution "${job.execution.name ?? ''}"`), {
          cause: error,
        });
      }),
    map: (job) =>
      runIn(namespace, 'map', job).catch((error: unknown) => {
        throw new MappingFailed(job.reason, `unable to template ${sentence(error, job.what)}`, {
          cause: error,
        });
      }),
    check: (job) =>
      runIn(namespace, 'check', job).catch((error: unknown) => ({
        kind: 'unusable',
        message: sentence(error, 'the validation against the schema'),
      })) as Promise<SchemaVerdict>,
    unpackItems: (job) =>
      runIn<UnpackedItems>(namespace, 'unpackItems', job).catch((error: unknown) => {
        if (!(error instanceof WorkStopped)) throw error;
        const why = sentence(error, 'reading it');
        throw new UnreadableDeployItems('deployItemsCompressed', why, { cause: error });
      }),
    matchNames: (job) =>
      matchNamesNear(job, () => runIn<NameMatches>(namespace, 'matchNames', job), sentence),
    readTexts: (job) => readTextsNear(job, () => runIn(namespace, 'readTexts', job), sentence),
    ...descriptorRunner((kind, job) => runIn(namespace, kind, job), sentence),
    ...chartRunner((kind, job) => ofChart(runIn(namespace, kind, job))),
  });
  return { of: runnerOf, close: () => pool.close() };
}

type RunChartWork = <T>(kind: WorkKind, job: AnyJob) => Promise<T>;

const chartRunner = (run: RunChartWork): ChartRunner => ({
  mentions: (job) => run('mentions', job),
  chartValues: (job) => run('chartValues', job),
  checkChartValues: (job) => run('checkChartValues', job),
  recordDocuments: (job) => run('recordDocuments', job),
  chartDefinitions: (job) => run('chartDefinitions', job),
  viewRecord: (job) => run('viewRecord', job),
  changeRecord: (job) => run('changeRecord', job),
  renderRelease: ({ lookup, ...job }) =>
    withLookups(lookup, (round) => run<RoundResult<string>>('releaseRound', { ...job, round })),
  renderChart: ({ lookup, ...job }) =>
    withLookups(lookup, (round) => run<RoundResult<ChartObjects>>('chartRound', { ...job, round })),
});
