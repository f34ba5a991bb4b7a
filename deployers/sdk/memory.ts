/** What is worth keeping between the looks at an item during one job. All of it may be lost at any time. */
import type { Problem } from '../../src/machine/decision.ts';
import type { Key, View } from '../../src/runtime/types.ts';
import type { DeployItem } from './kinds.ts';
import type { ResolvedTarget } from './target.ts';

export interface Memory {
  readonly jobID: string;
  readonly generation: number;
  readonly direction: string;
  readonly scratch: Map<string, unknown>;
  /** Monotonic milliseconds at which the present waiting began. */
  waitingSince?: number | undefined;
  /** Failing looks in a row. */
  failures: number;
  /** How the job fails if its time is used up while it waits. */
  onTimeout?: Problem | undefined;
  target?: { readonly version: string; readonly resolved: ResolvedTarget } | undefined;
  /** Credentials were refused in this job, and have been read again since. */
  isRefused?: boolean;
}

export interface Memories {
  /** What is remembered of this job at this generation; fresh for another one. */
  of(key: Key, item: View<DeployItem>, direction: string): Memory;
  forget(key: Key): void;
  /** How many items are remembered. */
  readonly size: number;
}

/** Fewer than these are not worth looking through. */
const FIRST_SWEEP = 64;

/**
 * @param isOpen whether a job of the item runs: others end jobs and take items away without asking us, so now and then
 *     the memories of what is over are swept out
 */
export function createMemories(isOpen: (key: Key) => boolean): Memories {
  const all = new Map<Key, Memory>();
  let sweepAt = FIRST_SWEEP;
  const sweep = (): void => {
    for (const key of all.keys()) if (!isOpen(key)) all.delete(key);
    sweepAt = Math.max(FIRST_SWEEP, 2 * all.size);
  };
  return {
    of(key, { metadata, status }, direction) {
      const old = all.get(key);
      const jobID = `${metadata.uid ?? ''}/${status?.jobID ?? ''}`;
      const generation = metadata.generation ?? 0;
      if (old?.jobID === jobID && old.generation === generation && old.direction === direction) return old;
      if (all.size >= sweepAt) sweep();
      const memory: Memory = { jobID, generation, direction, scratch: new Map(), failures: 0 };
      all.set(key, memory);
      return memory;
    },
    forget(key) {
      all.delete(key);
    },
    get size() {
      return all.size;
    },
  };
}

const MIN_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
/** A look comes after so much of the time already waited: nobody waits much longer than needed, nobody asks too often. */
const SHARE = 6;

/** Milliseconds until the next look of a job that waits. */
export const waitMs = (waitedMs: number): number =>
  Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.round(waitedMs / SHARE)));

const FIRST_RETRY_MS = 1000;
const RETRY_MS = 5000;

/** Milliseconds until a failed look is repeated. @param failures in a row, this one included */
export const retryMs = (failures: number): number => (failures <= 1 ? FIRST_RETRY_MS : RETRY_MS);

/** After a crash of a plugin. */
export const CRASH_RETRY_MS = 5 * 60_000;
