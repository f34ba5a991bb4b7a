/**
 * The work queue: keys that are ready, active, dirty or waiting for a timer. It contains no objects and no policy;
 * fair-order.ts decides the order of ready keys.
 *
 * An event for an active key does not queue the key but marks it as dirty, and it becomes ready again only when its
 * reconcile has ended. So a key never has two reconciles at the same time, and any number of events during a
 * reconcile cause exactly one more.
 */
import { Alarm } from '../../lib/alarm.ts';
import type { Clock } from '../../lib/clock.ts';
import { FairOrder, type Waiting } from './fair-order.ts';
import { Heap, type HeapItem } from './heap.ts';
import type { Key } from '../types.ts';

export type TimerKind = 'retry' | 'requeue' | 'sync' | 'limit';

/** Priority of objects in a first list; edits have 0 and come before them. */
export const INITIAL_PRIORITY = -100;

/** A key that is assigned to a worker. */
export interface WorkItem {
  readonly key: Key;
  readonly priority: number;
  /** Whether an event arrived since the reconcile started. */
  dirty(): boolean;
  /** The reconcile failed, which counts against its namespace. */
  failed(): void;
  /**
   * The reconcile takes long: it no longer counts among those of the workers.
   * @returns false if it keeps its worker, because too many have left theirs, or there is no fairness
   */
  leaveWorker(): boolean;
  /** Returns the key to the queue; a dirty one is ready again at once. */
  end(): void;
}

/** How the queue divides workers among namespaces. */
interface Fairness {
  /** Maximum number of active keys; one namespace never has all of them, unless there is only one. */
  readonly workers: number;
  /** The namespace of a key. */
  namespaceOf(key: Key): string;
}

/**
 * *Guarantees*: a key is active at most once and has at most one timer; within a namespace the highest priority comes
 * first, and first in, first out within a priority; fair-order.ts has the order of namespaces. *Errors*: none.
 */
export interface WorkQueue {
  /**
   * The key is ready now, or when its active reconcile ends. Adding it again keeps the higher priority; a key with a
   * raised priority is queued behind those with that priority.
   * @returns `merged` when the key was already ready
   */
  add(key: Key, priority?: number): 'queued' | 'merged';
  /** Sets the key's only timer, which replaces an earlier one. With 0 ms the key is ready now. */
  addAfter(key: Key, ms: number, kind: TimerKind, priority?: number): void;
  /** Removes the key: its place, its timer, and its dirty mark. An active reconcile continues. */
  cancel(key: Key): void;
  /** The next key, without its timer. Undefined when the queue is closed. */
  take(): Promise<WorkItem | undefined>;
  /** Number of ready keys, by priority. */
  depths(): ReadonlyMap<number, number>;
  /** The timer of the key. */
  timerOf(key: Key): { readonly kind: TimerKind; readonly when: number } | undefined;
  /** Removes all keys that are not active, accepts no more, and ends all waiting calls of `take`. */
  close(): void;
  /** Number of all keys; 0 when idle and without timers. */
  readonly size: number;
}

interface Timer extends HeapItem {
  readonly key: Key;
  readonly when: number;
  readonly seq: number;
  readonly kind: TimerKind;
  readonly priority: number;
}

/** Entries in a list are ready. */
interface Entry extends Waiting<Entry> {
  readonly key: Key;
  isRunning: boolean;
  isDirty: boolean;
  readySince: number;
  timer: Timer | undefined;
}

type Waiter = (item: WorkItem | undefined) => void;

interface QueueObserver {
  /** A key became ready. */
  added(): void;
  /** A key was taken after this time. */
  taken(waitedMs: number): void;
}

const noObserver: QueueObserver = { added() {}, taken() {} };

/** Default: all keys are in one namespace, which may use all workers. */
const unfair: Fairness = { workers: Infinity, namespaceOf: () => '' };

export function createQueue(
  clock: Clock,
  observer: QueueObserver = noObserver,
  fairness: Fairness = unfair,
): WorkQueue {
  return new KeyQueue(clock, observer, fairness);
}

class KeyQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver;
  readonly #entries = new Map<Key, Entry>();
  readonly #ready: FairOrder<Entry>;
  readonly #fairness: Fairness;
  readonly #timers = new Heap<Timer>((a, b) => a.when < b.when || (a.when === b.when && a.seq < b.seq));
  readonly #depths = new Map<number, number>();
  readonly #waiters = new Set<Waiter>();
  readonly #alarm: Alarm;
  #seq = 0;
  #isClosed = false;

  constructor(clock: Clock, observer: QueueObserver, fairness: Fairness) {
    this.#clock = clock;
    this.#observer = observer;
    this.#fairness = fairness;
    this.#ready = new FairOrder(fairness.workers);
    this.#alarm = new Alarm(clock, () => {
      this.#ring();
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  depths(): ReadonlyMap<number, number> {
    return this.#depths;
  }

  timerOf(key: Key): Timer | undefined {
    return this.#entries.get(key)?.timer;
  }

  close(): void {
    this.#isClosed = true;
    for (const key of [...this.#entries.keys()]) this.cancel(key);
    for (const waiter of this.#waiters) waiter(undefined);
  }

  add(key: Key, priority = 0): 'queued' | 'merged' {
    if (this.#isClosed) return 'merged';
    const entry = this.#entryOf(key);
    if (entry.isRunning) {
      entry.priority = entry.isDirty ? Math.max(entry.priority, priority) : priority;
      if (entry.isDirty) return 'merged';
      entry.isDirty = true;
      return 'queued';
    }
    if (entry.list) {
      if (priority > entry.priority) this.#raise(entry, priority);
      return 'merged';
    }
    this.#makeReady(entry, priority);
    return 'queued';
  }

  addAfter(key: Key, ms: number, kind: TimerKind, priority = 0): void {
    if (this.#isClosed) return;
    const entry = this.#entryOf(key);
    this.#dropTimer(entry);
    if (!(ms > 0)) {
      this.add(key, priority);
      return;
    }
    const when = this.#clock.now() + ms;
    entry.timer = { key, when, kind, priority, seq: this.#seq++, place: 0 };
    this.#timers.push(entry.timer);
    this.#arm();
  }

  cancel(key: Key): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#dropTimer(entry);
    entry.isDirty = false;
    if (entry.list) this.#leave(entry);
    this.#forgetIdle(entry);
    this.#arm();
  }

  take(): Promise<WorkItem | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    const entry = this.#ready.next();
    if (entry) return Promise.resolve(this.#begin(entry));
    return new Promise((resolve) => this.#waiters.add(resolve));
  }

  #entryOf(key: Key): Entry {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = {
        key,
        group: this.#ready.enter(this.#fairness.namespaceOf(key)),
        isRunning: false,
        isDirty: false,
        priority: 0,
        readySince: 0,
        timer: undefined,
        list: undefined,
        before: undefined,
        after: undefined,
      };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #makeReady(entry: Entry, priority: number): void {
    entry.priority = priority;
    entry.readySince = this.#clock.now();
    this.#ready.push(entry, entry.readySince);
    this.#count(priority, 1);
    this.#observer.added();
    this.#serve();
  }

  /** Assigns ready keys to waiting workers. */
  #serve(): void {
    for (const waiter of this.#waiters) {
      const entry = this.#ready.next();
      if (!entry) return;
      this.#waiters.delete(waiter);
      waiter(this.#begin(entry));
    }
  }

  #raise(entry: Entry, priority: number): void {
    this.#leave(entry);
    entry.priority = priority;
    this.#ready.push(entry, this.#clock.now());
    this.#count(priority, 1);
  }

  #leave(entry: Entry): void {
    this.#ready.remove(entry);
    this.#count(entry.priority, -1);
  }

  #begin(entry: Entry): WorkItem {
    const now = this.#clock.now();
    const mark = this.#ready.begin(entry, now);
    this.#count(entry.priority, -1);
    this.#dropTimer(entry);
    entry.isRunning = true;
    entry.isDirty = false;
    this.#observer.taken(now - entry.readySince);
    let hasFailed = false;
    let hasEnded = false;
    let isSlow = false;
    return {
      key: entry.key,
      priority: entry.priority,
      dirty: () => entry.isDirty,
      failed: () => {
        hasFailed = true;
      },
      leaveWorker: () => {
        if (hasEnded || isSlow || !this.#ready.leaveWorker(entry.group, mark, this.#clock.now()))
          return false;
        isSlow = true;
        this.#serve();
        return true;
      },
      end: () => {
        if (hasEnded) return;
        hasEnded = true;
        this.#end(entry, isSlow ? undefined : mark, hasFailed);
      },
    };
  }

  /** @param mark undefined for a reconcile that has left its worker */
  #end(entry: Entry, mark: number | undefined, hasFailed: boolean): void {
    entry.isRunning = false;
    this.#ready.end(entry.group, mark, hasFailed, this.#clock.now());
    if (entry.isDirty) {
      this.#makeReady(entry, entry.priority);
    } else {
      this.#forgetIdle(entry);
      this.#serve();
    }
  }

  #forgetIdle(entry: Entry): void {
    if (entry.isRunning || entry.timer) return;
    this.#entries.delete(entry.key);
    this.#ready.leave(entry.group);
  }

  #dropTimer(entry: Entry): void {
    if (entry.timer) this.#timers.remove(entry.timer);
    entry.timer = undefined;
  }

  #count(priority: number, by: number): void {
    this.#depths.set(priority, (this.#depths.get(priority) ?? 0) + by);
  }

  #arm(): void {
    const first = this.#timers.peek();
    if (first) this.#alarm.by(first.when);
    else this.#alarm.cancel();
  }

  #ring(): void {
    const now = this.#clock.now();
    for (let timer = this.#timers.peek(); timer && timer.when <= now; timer = this.#timers.peek()) {
      this.#timers.remove(timer);
      const entry = this.#entryOf(timer.key);
      entry.timer = undefined;
      this.add(timer.key, timer.priority);
    }
    this.#arm();
  }
}
