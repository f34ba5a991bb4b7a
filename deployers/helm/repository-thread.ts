/**
 * Reads large indexes of chart repositories in a thread of its own: a tenant names the repository, and some MiB of YAML
 * take seconds. One at a time, in turn by repository.
 */
import { Worker } from 'node:worker_threads';
import { ByteBudget } from '../../src/lib/byte-budget.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { threadEntry } from '../../src/lib/thread-entry.ts';
import { messageOf } from '../sdk/errors.ts';
import { locationIn, RepositoryProblem, type WantedChart } from './repository-index.ts';

export interface IndexQuestion {
  readonly index: Uint8Array;
  readonly wanted: WantedChart;
}

export type IndexAnswer = { readonly location: string } | { readonly problem: string };

/** The index takes too long or too much memory to read; it will do so the next time, too. */
export class IndexTooLarge extends RepositoryProblem {
  override readonly name = 'IndexTooLarge';
}

/** Read at once: less work than to start a thread. */
const SMALL_BYTES = 256 * 1024;
/** An index of 16 MiB takes about one second. */
const MAX_MS = 30_000;
const MAX_MEMORY_MIB = 256;
const threads = new ByteBudget(1);

/**
 * Where the archive of the chart is: absolute, or relative to the repository.
 * @throws RepositoryProblem; the reason of the signal
 */
export async function locationAside(
  index: Uint8Array,
  wanted: WantedChart,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<string> {
  if (index.length <= SMALL_BYTES) return locationIn(index, wanted);
  const thread = await threads.take(1, wanted.url, signal);
  try {
    const answer = await answerOf({ index, wanted }, clock, signal);
    if ('location' in answer) return answer.location;
    throw new RepositoryProblem(answer.problem);
  } finally {
    thread.release();
  }
}

async function answerOf(question: IndexQuestion, clock: Clock, signal: AbortSignal): Promise<IndexAnswer> {
  signal.throwIfAborted();
  const { url } = question.wanted;
  // Nothing of the process is handed down: no environment, no arguments.
  const worker = new Worker(threadEntry(import.meta.url, 'repository-entry'), {
    ...{ env: {}, argv: [] },
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB },
  });
  let cancel = (): void => undefined;
  let onAbort = (): void => undefined;
  try {
    return await new Promise<IndexAnswer>((resolve, reject) => {
      const tooLarge = (why: string): void => {
        reject(new IndexTooLarge(`the index of ${url} cannot be read: ${why}`));
      };
      onAbort = () => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      cancel = clock.at(clock.now() + MAX_MS, () => {
        tooLarge(`it takes more than ${String(MAX_MS / 1000)} s`);
      });
      worker.once('message', resolve);
      worker.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') tooLarge(messageOf(error));
        else tooLarge(`it needs more than ${String(MAX_MEMORY_MIB)} MiB of memory`);
      });
      worker.once('exit', () => {
        tooLarge('its thread ended');
      });
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
    await worker.terminate();
  }
}
