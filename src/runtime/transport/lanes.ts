/**
 * Limits concurrent requests; the more urgent lanes come first. Lease requests have their own sockets and are not
 * limited.
 */

/** From most to least urgent. */
const LANES = ['write', 'read', 'list'] as const;
/** How urgent a request is. */
export type Lane = (typeof LANES)[number];

interface Waiter {
  go(): void;
}

export class Lanes {
  #free: number;
  readonly #waiting: Record<Lane, Waiter[]> = { write: [], read: [], list: [] };

  constructor(limit: number) {
    this.#free = limit;
  }

  /**
   * Resolves to a function that frees the place; call it exactly once.
   * @throws the reason of `signal`
   */
  enter(lane: Lane, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(this.#leave);
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        go: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve(this.#leave);
        },
      };
      const onAbort = (): void => {
        const line = this.#waiting[lane];
        line.splice(line.indexOf(waiter), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting[lane].push(waiter);
    });
  }

  readonly #leave = (): void => {
    for (const lane of LANES) {
      const next = this.#waiting[lane].shift();
      if (next) {
        next.go();
        return;
      }
    }
    this.#free++;
  };
}
