/**
 * Reads large indexes of chart repositories in a process of its own: a tenant names the repository, and some MiB of YAML
 * take seconds. One at a time, in turn by repository.
 */
import { ByteBudget } from '../../src/lib/byte-budget.ts';
import { ChildProgram, programBeside } from '../../src/lib/child-program.ts';
import type { Clock } from '../../src/lib/clock.ts';
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

/** Read at once: less work than to start a process. */
const SMALL_BYTES = 256 * 1024;
/** An index of 16 MiB takes about one second. */
const MAX_MS = 30_000;
const MAX_MEMORY_MIB = 256;
const places = new ByteBudget(1);

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
  const place = await places.take(1, wanted.url, signal);
  try {
    const answer = await answerOf({ index, wanted }, clock, signal);
    if ('location' in answer) return answer.location;
    throw new RepositoryProblem(answer.problem);
  } finally {
    place.release();
  }
}

async function answerOf(question: IndexQuestion, clock: Clock, signal: AbortSignal): Promise<IndexAnswer> {
  signal.throwIfAborted();
  const { url } = question.wanted;
  let program: ChildProgram | undefined;
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
      program = new ChildProgram(
        { entry: programBeside(import.meta.url, 'repository-entry'), memoryMiB: MAX_MEMORY_MIB },
        {
          onMessage: (answer) => {
            resolve(answer as IndexAnswer);
          },
          onEnd: ({ isMemory, cause }) => {
            tooLarge(isMemory ? `it needs more than ${String(MAX_MEMORY_MIB)} MiB of memory` : cause.message);
          },
        },
      );
      program.hold();
      program.send(question);
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
    await program?.stop();
  }
}
