/**
 * Limits concurrent requests. Namespaces take turns, as in the queue of a controller, so the requests of one do not delay
 * those of others; within a namespace the more urgent lanes come first. Requests without a namespace take turns like
 * those of a namespace. Lease requests have their own sockets and are not limited.
 */
import type { Clock } from '../../lib/clock.ts';
import { FairOrder, type Waiting } from '../queue/fair-order.ts';

/** From least to most urgent, as priorities. */
const LANES = { list: 0, read: 1, write: 2 } as const;
/** How urgent a request is. */
export type Lane = keyof typeof LANES;

/**
 * For this many requests, for each place, after one of a namespace with few requests, the namespaces with many have at most
 * half of the places together. A busy server answers a request after all that it received before, so a job with one
 * request after the other waits at each of them for those that are on their way.
 */
const YIELDS_FOR = 4;

/** A request that waits for its turn. */
interface Waiter extends Waiting<Waiter> {
  go: (leave: () => void) => void;
}

export class Lanes {
  readonly #clock: Clock;
  readonly #order: FairOrder<Waiter>;
  #free: number;

  /** @param limit of concurrent requests; one namespace has at most one less, unless the limit is one */
  constructor(limit: number, clock: Clock) {
    this.#free = limit;
    this.#clock = clock;
    this.#order = new FairOrder(limit, YIELDS_FOR * limit);
  }

  /** Number of namespaces with requests. */
  get size(): number {
    return this.#order.size;
  }

  /**
   * Resolves to a function that frees the place; call it exactly once.
   * @throws the reason of `signal`
   */
  enter(lane: Lane, namespace = '', signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        group: this.#order.enter(namespace),
        priority: LANES[lane],
        list: undefined,
        before: undefined,
        after: undefined,
        go: resolve,
      };
      this.#order.push(waiter, this.#clock.now());
      this.#serve();
      // Most requests start at once.
      if (!waiter.list || !signal) return;
      const onAbort = (): void => {
        this.#order.remove(waiter);
        this.#order.leave(waiter.group);
        reject(signal.reason as Error);
      };
      waiter.go = (leave) => {
        signal.removeEventListener('abort', onAbort);
        resolve(leave);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Gives free places to waiting requests. */
  #serve(): void {
    while (this.#free > 0) {
      const next = this.#order.next();
      if (!next) return;
      this.#free--;
      const mark = this.#order.begin(next, this.#clock.now());
      next.go(() => {
        this.#leave(next, mark);
      });
    }
  }

  #leave({ group }: Waiter, mark: number): void {
    this.#order.end(group, mark, false, this.#clock.now());
    this.#order.leave(group);
    this.#free++;
    this.#serve();
  }
}
