/**
 * Decides which work a worker does next, so that a namespace delays others by at most one job.
 *
 * Namespaces take turns. Each has a budget of processor time that refills slowly: a namespace without budget is
 * served only when no other waits, and one whose work was stopped repeatedly comes last. Neither gets the last free
 * worker.
 */

/** Processor time that a namespace may use at once, in ms, and its maximum debt. */
const BURST_MS = 5_000;
/** How fast a budget refills, in ms of processor time for each ms that passes. */
const REFILL = 0.1;
/** How long a namespace counts as one whose work was stopped, after the last stop. */
const PARDON_MS = 10 * 60_000;

/** After this many stops, a namespace is served last. */
const STOPS_OF_OFFENDER = 2;

/** The cost of completed work. */
export interface Cost {
  readonly cpuMs: number;
  /** Whether it was stopped because of its own behaviour. */
  readonly isStopped?: boolean;
}

/** Work that waits for its turn. */
interface Owned {
  readonly namespace: string;
}

interface Account<T> {
  readonly waiting: T[];
  running: number;
  balanceMs: number;
  balanceAt: number;
  stops: number;
  stoppedAt: number;
  /** When it was last served, as a sequence number. */
  servedAs: number;
}

/** The lowest value is served first. */
type Rank = 0 | 1 | 2;

/** Pure: each call passes the time, in ms of a monotonic clock. */
export class FairQueue<T extends Owned> {
  readonly #size: number;
  readonly #accounts = new Map<string, Account<T>>();
  #running = 0;
  #served = 0;

  /** @param size number of workers. One namespace uses at most one less at the same time, unless there is only one. */
  constructor(size: number) {
    this.#size = size;
  }

  add(work: T, now: number): void {
    const account = this.#accounts.get(work.namespace) ?? {
      waiting: [],
      running: 0,
      balanceMs: BURST_MS,
      balanceAt: now,
      stops: 0,
      stoppedAt: now,
      servedAs: 0,
    };
    this.#accounts.set(work.namespace, account);
    account.waiting.push(work);
  }

  /** The work that starts now, if any; it counts as running until `done`. */
  take(now: number): T | undefined {
    const free = this.#size - this.#running;
    if (free <= 0) return undefined;
    const isLast = free === 1 && this.#size > 1;
    const first = [...this.#accounts.values()]
      .filter(({ waiting, running }) => waiting.length > 0 && (running < this.#size - 1 || this.#size === 1))
      .map((account) => ({ account, rank: this.#rank(account, now) }))
      .filter(({ rank }) => rank === 0 || !isLast)
      .reduce<Candidate<T> | undefined>((a, b) => (a && !isSooner(b, a) ? a : b), undefined);
    if (!first) return undefined;
    const { account } = first;
    account.running++;
    account.servedAs = ++this.#served;
    this.#running++;
    return account.waiting.shift();
  }

  /** Work of the namespace has ended, successfully or not. */
  done(namespace: string, { cpuMs, isStopped = false }: Cost, now: number): void {
    const account = this.#accounts.get(namespace);
    if (!account) return;
    this.#running--;
    account.running--;
    const balance = this.#balance(account, now);
    account.balanceMs = Math.max(-BURST_MS, balance - cpuMs);
    account.balanceAt = now;
    if (isStopped) {
      account.stops = this.#stops(account, now) + 1;
      account.stoppedAt = now;
    }
    this.#forget(now);
  }

  /** Removes all waiting work. */
  drain(): readonly T[] {
    return [...this.#accounts.values()].flatMap(({ waiting }) => waiting.splice(0));
  }

  #rank(account: Account<T>, now: number): Rank {
    if (this.#stops(account, now) >= STOPS_OF_OFFENDER) return 2;
    return this.#balance(account, now) > 0 ? 0 : 1;
  }

  #balance({ balanceMs, balanceAt }: Account<T>, now: number): number {
    return Math.min(BURST_MS, balanceMs + (now - balanceAt) * REFILL);
  }

  #stops({ stops, stoppedAt }: Account<T>, now: number): number {
    return now - stoppedAt < PARDON_MS ? stops : 0;
  }

  /** Accounts that are equal to a new one are removed. */
  #forget(now: number): void {
    for (const [namespace, account] of this.#accounts) {
      const isIdle = account.running === 0 && account.waiting.length === 0;
      if (isIdle && this.#balance(account, now) >= BURST_MS && this.#stops(account, now) === 0) {
        this.#accounts.delete(namespace);
      }
    }
  }
}

interface Candidate<T> {
  readonly account: Account<T>;
  readonly rank: Rank;
}

const isSooner = <T>(a: Candidate<T>, b: Candidate<T>): boolean =>
  a.rank === b.rank ? a.account.servedAs < b.account.servedAs : a.rank < b.rank;
