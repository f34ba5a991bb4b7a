/**
 * Which faults happen, and how often: drawn once per seed, so that there are quiet runs, rough ones, and one-sided
 * ones.
 */
import type { Chance } from '../engine/chance.ts';

/**
 * - `conflict`, `tooMany`, `serverError`: rejected, without effect
 * - `reset`: the request never arrived
 * - `lost`: it took effect, but the response never arrived
 * - `late`: the client has timed out when it takes effect
 */
export type RequestFault = 'conflict' | 'tooMany' | 'serverError' | 'reset' | 'lost' | 'late';
/** Faults for a certain request; `crashBefore` and `crashAfter`: its sender dies before or after it takes effect. */
export type ScriptedFault = RequestFault | 'crashBefore' | 'crashAfter';
/** The connection breaks; the server ends it normally; the next events have expired, so everything is listed again. */
type WatchFault = 'cut' | 'ended' | 'gone';

export interface FaultRates {
  readonly request: Readonly<Partial<Record<RequestFault, number>>>;
  readonly watch: Readonly<Partial<Record<WatchFault, number>>>;
  /** Probability per frame that a watch becomes silent for a while. */
  readonly stall: number;
  /** Probability per step of the network that a process is killed, or stopped normally. */
  readonly crash: number;
  readonly stop: number;
}

export const noFaults: FaultRates = { request: {}, watch: {}, stall: 0, crash: 0, stop: 0 };

/** How long a stalled watch is silent, an unanswered request is pending, a late one is in transit. Milliseconds. */
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

/** One of the faults, or none, according to their rates. */
export function drawFault<K extends string>(
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
