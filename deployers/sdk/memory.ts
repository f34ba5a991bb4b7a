/** What is kept in memory between reconciles of a deploy item during one job. It may be lost at any time. */
import type { Problem } from '../../src/machine/decision.ts';
import type { Key, View } from '../../src/runtime/types.ts';
import type { DeployItem } from './kinds.ts';
import type { ResolvedTarget } from './target.ts';

export interface Memory {
  readonly jobID: string;
  readonly generation: number;
  readonly direction: string;
  readonly scratch: Map<string, unknown>;
  /** When the current wait started, in monotonic milliseconds. */
  waitingSince?: number | undefined;
  /** Number of consecutive failures. */
  failures: number;
  /** Number of the last of them whose outlook is unknown. */
  unknownFailures: number;
  /** The problem of the job if it times out during the wait. */
  onTimeout?: Problem | undefined;
  target?: { readonly version: string; readonly resolved: ResolvedTarget } | undefined;
  /** Credentials were rejected in this job, and have been read again since. */
  isRefused?: boolean;
}

export interface Memories {
  /** The memory of this job at this generation; empty for another one. */
  of(key: Key, item: View<DeployItem>, direction: string): Memory;
  forget(key: Key): void;
  /** Number of deploy items with a memory. */
  readonly size: number;
}

/** With fewer entries, no cleanup is needed. */
const FIRST_SWEEP = 64;

/**
 * @param isOpen whether the item has an open job: other controllers end jobs and delete items, so memories of ended
 * jobs
 *     are removed from time to time
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
      const memory: Memory = {
        jobID,
        generation,
        direction,
        scratch: new Map(),
        failures: 0,
        unknownFailures: 0,
      };
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
/**
 * The next check comes after this share of the time already waited: waits are not much longer than needed, and checks
 * are not too frequent.
 */
const SHARE = 6;

/** Milliseconds until the next check of a waiting job. */
export const waitMs = (waitedMs: number): number =>
  Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.round(waitedMs / SHARE)));

const FIRST_RETRY_MS = 1000;
const RETRY_MS = 5000;

/** Milliseconds until a failed reconcile is retried. @param failures consecutive ones, including this one */
export const retryMs = (failures: number): number => (failures <= 1 ? FIRST_RETRY_MS : RETRY_MS);

/** Delay after a bug in a plugin. */
export const CRASH_RETRY_MS = 5 * 60_000;
