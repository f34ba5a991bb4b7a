/**
 * The only place where tests wait in real time: for something that happens in another process or on a server, and
 * that no event reports. eslint refuses timers and the machine's clock in other tests.
 */
import { patience } from './patience.ts';

/** Below the time limit of mocha, whose message does not say what was missing. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 20;

export type Nothing = undefined | null | false | '' | 0;

export interface Waiting {
  readonly everyMs?: number;
  /** On a quiet machine. */
  readonly forMs?: number;
  /** What else to report of a wait that failed. */
  readonly why?: () => string | Promise<string>;
}

/** Lets real time pass between two looks. It is never long enough for something to have happened: use `eventually`. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A number of milliseconds that grows with real time, for measurements that are reported or compared with each other. */
export const stopwatch = (): (() => number) => {
  const start = performance.now();
  return () => performance.now() - start;
};

/**
 * Looks again and again until there is something to see.
 * @param what a clause: `the pod runs`
 * @throws Error that names `what`, if it has not happened after a long time
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T> | T,
  { everyMs = LOOK_MS, forMs = PATIENCE_MS, why = () => '' }: Waiting = {},
): Promise<Exclude<T, Nothing>> {
  const elapsed = stopwatch();
  for (;;) {
    const found = await look();
    if (found) return found as Exclude<T, Nothing>;
    if (elapsed() > patience(forMs)) throw new Error(`timed out: ${what} ${await why()}`.trim());
    await pause(everyMs);
  }
}

/** Waits for a promise. @throws Error that names `what`, if it does not end after a long time */
export async function inTime<T>(
  what: string,
  promise: Promise<T>,
  { forMs = PATIENCE_MS, why = () => '' }: Omit<Waiting, 'everyMs'> = {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience(forMs));
  }).then(async (): Promise<never> => {
    throw new Error(`timed out: ${what} ${await why()}`.trim());
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
