/** Time, which is injected everywhere so that tests control it. Only this file uses the system clock. */

export interface Clock {
  /** Monotonic milliseconds, for durations and timers. */
  now(): number;
  /** Milliseconds since 1970-01-01T00:00:00Z, for timestamps outside of the process. */
  wall(): number;
  /** Calls `fn` once when `now()` has reached `when`, never synchronously. @returns a function that cancels it */
  at(when: number, fn: () => void): () => void;
}

/** Maximum delay of `setTimeout`, which fires at once for longer ones. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The system clock. Its timers keep the process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  at(when, fn) {
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const ms = Math.ceil(when - performance.now());
      handle = setTimeout(fire, Math.min(Math.max(0, ms), MAX_TIMEOUT_MS));
    };
    // Node.js counts whole milliseconds from the start of the event loop's turn, so timers can fire up to one too early.
    const fire = (): void => {
      if (performance.now() < when) arm();
      else fn();
    };
    arm();
    return () => {
      clearTimeout(handle);
    };
  },
};

/**
 * Resolves after `ms` milliseconds of `clock`; rejects with the signal's reason when it aborts first.
 * @throws the reason of `signal`
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.at(clock.now() + ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** RFC 3339 with whole seconds, the form of Kubernetes' `metav1.Time`: `2026-01-31T12:00:00Z`. */
export const timestamp = (clock: Clock): string => `${new Date(clock.wall()).toISOString().slice(0, 19)}Z`;

/** RFC 3339 with microseconds, the form of Kubernetes' `metav1.MicroTime`. */
export const microTimestamp = (clock: Clock): string =>
  `${new Date(clock.wall()).toISOString().slice(0, 23)}000Z`;
