/**
 * Reads large indexes of chart repositories in a separate process: tenants choose the repository, and parsing some
 * MiB of YAML takes seconds. One process runs at a time; namespaces take turns, since a tenant can name any number of
 * repositories.
 */
import { ByteBudget, shareOf } from '../../src/lib/byte-budget.ts';
import { ChildProgram, programBeside } from '../../src/lib/child-program.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { YamlBudget } from '../../src/lib/yaml-budget.ts';
import { YamlTooLarge } from '../../src/lib/yaml-error.ts';
import { ChartNotPublished, locationIn, RepositoryProblem, type WantedChart } from './repository-index.ts';

export interface IndexRequest {
  readonly index: Uint8Array;
  readonly wanted: WantedChart;
}

export type IndexResponse =
  { readonly location: string } | { readonly problem: string; readonly isNotPublished: boolean };

/** Reading the index exceeds the time or memory limit; a retry cannot help. */
export class IndexTooLarge extends RepositoryProblem {
  override readonly name = 'IndexTooLarge';
}

/** Smaller indexes are read in this process, which costs less than starting another one. */
const SMALL_BYTES = 256 * 1024;
/** Bytes of the values of such an index, unless it has aliases. */
const SMALL_VALUES = 16 * SMALL_BYTES;
/** An index of 16 MiB takes about one second. */
const MAX_MS = 30_000;
const MAX_MEMORY_MIB = 256;
const turns = new ByteBudget(1);

interface Reading {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Of the deploy item; undefined: repositories take turns. */
  readonly namespace?: string | undefined;
}

/**
 * The location of the chart's archive: absolute, or relative to the repository.
 * @throws RepositoryProblem; the reason of the signal
 */
export async function locationInProcess(
  index: Uint8Array,
  wanted: WantedChart,
  { clock, signal, namespace }: Reading,
): Promise<string> {
  if (index.length <= SMALL_BYTES) {
    try {
      return locationIn(index, wanted, new YamlBudget(SMALL_VALUES));
    } catch (error) {
      if (!(error instanceof RepositoryProblem && error.cause instanceof YamlTooLarge)) throw error;
    }
  }
  const place = await turns.take(1, shareOf(namespace, wanted.url), signal);
  try {
    const response = await responseOf({ index, wanted }, clock, signal);
    if ('location' in response) return response.location;
    const { problem, isNotPublished } = response;
    throw isNotPublished ? new ChartNotPublished(problem) : new RepositoryProblem(problem);
  } finally {
    place.release();
  }
}

async function responseOf(request: IndexRequest, clock: Clock, signal: AbortSignal): Promise<IndexResponse> {
  signal.throwIfAborted();
  const { url } = request.wanted;
  let program: ChildProgram | undefined;
  let cancel = (): void => undefined;
  let onAbort = (): void => undefined;
  try {
    return await new Promise<IndexResponse>((resolve, reject) => {
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
          onMessage: (response) => {
            resolve(response as IndexResponse);
          },
          onEnd: ({ isMemory, cause }) => {
            tooLarge(isMemory ? `it needs more than ${String(MAX_MEMORY_MIB)} MiB of memory` : cause.message);
          },
        },
      );
      program.hold();
      program.send(request);
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
    await program?.stop();
  }
}
