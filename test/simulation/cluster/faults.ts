/** Which faults strike, and how often: drawn once per seed, so that there are quiet runs, rough ones, and lopsided ones. */
import type { Chance } from '../engine/chance.ts';

/**
 * - `conflict`, `tooMany`, `serverError`: refused, without effect
 * - `reset`: it never arrived
 * - `lost`: it took effect, the answer never came
 * - `late`: the client has given up when it takes effect
 */
export type RequestFault = 'conflict' | 'tooMany' | 'serverError' | 'reset' | 'lost' | 'late';
/** The connection breaks; the server ends it orderly; what comes next is no longer kept, so all is listed anew. */
export type WatchFault = 'cut' | 'ended' | 'gone';

export interface FaultRates {
  readonly request: Readonly<Partial<Record<RequestFault, number>>>;
  readonly watch: Readonly<Partial<Record<WatchFault, number>>>;
  /** That a watch falls silent for a while, per frame. */
  readonly stall: number;
  /** That a process dies, or is stopped orderly, per step of the network. */
  readonly crash: number;
  readonly stop: number;
}

export const noFaults: FaultRates = { request: {}, watch: {}, stall: 0, crash: 0, stop: 0 };

/** How long a stalled watch is silent, an unanswered request is waited for, a late one is on its way. Milliseconds. */
export const STALL_MS = 8_000;
export const GIVE_UP_MS = 15_000;
export const LATE_MS = 5_000;

export function drawFaults(chance: Chance): FaultRates {
  const level = chance.pick([0, 0.02, 0.06, 0.15]);
  if (level === 0) return noFaults;
  const share = (): number => (chance.happens(0.6) ? chance.next() * level : 0);
  return {
    request: {
      conflict: share(),
      tooMany: share(),
      serverError: share(),
      reset: share(),
      lost: share(),
      late: share() / 2,
    },
    watch: { cut: share() / 3, ended: share() / 3, gone: share() / 4 },
    stall: share() / 2,
    crash: chance.happens(0.6) ? chance.next() * 0.03 : 0,
    stop: chance.happens(0.3) ? chance.next() * 0.02 : 0,
  };
}

/** One of the faults, or none, by their rates. */
export function strike<K extends string>(
  rates: Readonly<Partial<Record<K, number>>>,
  chance: Chance,
): K | undefined {
  let left = chance.next();
  for (const [fault, rate] of Object.entries(rates) as [K, number][]) {
    left -= rate;
    if (left < 0) return fault;
  }
  return undefined;
}
