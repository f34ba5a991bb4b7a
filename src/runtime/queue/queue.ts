/**
 * Who runs next: keys that are ready, running, dirty or waiting for their timer. It holds no object and no policy; the
 * order of those that are ready is in fair-order.ts.
 *
 * The one subtle idea: an event for a running key does not queue it but makes the turn dirty, and only the end
 * of the turn makes the key ready again. That is why no key ever has two runs in flight, and why any number of
 * events during a run cause exactly one more.
 */
import { Alarm } from '../../lib/alarm.ts';
import type { Clock } from '../../lib/clock.ts';
import { FairOrder, type Waiting } from './fair-order.ts';
import { Heap, type HeapItem } from './heap.ts';
import type { Key } from '../types.ts';

export type TimerKind = 'retry' | 'requeue' | 'sync' | 'limit';

/** Priority of what a first list brings; edits have 0 and overtake it. */
export const INITIAL_PRIORITY = -100;

/** One key in the hands of one worker. */
export interface WorkItem {
  readonly key: Key;
  readonly priority: number;
  /** Whether an event arrived since the turn began. */
  dirty(): boolean;
  /** The reconcile failed, which counts against its namespace. */
  failed(): void;
  /** Gives the key back; a dirty one is ready again at once. */
  end(): void;
}

/** Between whom the queue is fair. */
interface Fairness {
  /** How many turns there are at a time; one namespace never has all of them, unless there is only one. */
  readonly workers: number;
  /** The namespace of a key. */
  namespaceOf(key: Key): string;
}

/**
 * *Guarantees*: at most one turn and at most one timer per key; within a namespace the highest priority first, and
 * first in, first out within a priority; between namespaces the order of fair-order.ts. *Errors*: none.
 */
export interface WorkQueue {
  /**
   * Ready now, or once the current turn ends. Adding again keeps the higher priority; a key that is raised goes to the
   * end of those with that priority.
   * @returns `merged` when the key was waiting for a turn already
   */
  add(key: Key, priority?: number): 'queued' | 'merged';
  /** Sets the key's only timer; one set before is replaced. Nothing to wait for means ready now. */
  addAfter(key: Key, ms: number, kind: TimerKind, priority?: number): void;
  /** Forgets what the key waits for: its place, its timer, and that its turn is dirty. A turn goes on. */
  cancel(key: Key): void;
  /** The next turn; beginning it removes the key's timer. Undefined when the queue is closed. */
  take(): Promise<WorkItem | undefined>;
  /** How many keys are ready, by priority. */
  depths(): ReadonlyMap<number, number>;
  /** Which timer the key has. */
  timerOf(key: Key): { readonly kind: TimerKind; readonly when: number } | undefined;
  /** Forgets everything that does not run, takes nothing more, and sends those who wait home. */
  close(): void;
  /** How many keys are known at all; 0 at rest without timers. */
  readonly size: number;
}

interface Timer extends HeapItem {
  readonly key: Key;
  readonly when: number;
  readonly seq: number;
  readonly kind: TimerKind;
  readonly priority: number;
}

/** Ready entries are those in a list. */
interface Entry extends Waiting<Entry> {
  readonly key: Key;
  isRunning: boolean;
  isDirty: boolean;
  readySince: number;
  timer: Timer | undefined;
}

type Waiter = (item: WorkItem | undefined) => void;

interface QueueObserver {
  /** A key got a place in the queue. */
  added(): void;
  /** A key left the queue after so long. */
  taken(waitedMs: number): void;
}

const noObserver: QueueObserver = { added() {}, taken() {} };

/** Without these all keys are in one namespace, and it may have all workers. */
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

  /** Gives workers that wait what they may have. */
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
    return {
      key: entry.key,
      priority: entry.priority,
      dirty: () => entry.isDirty,
      failed: () => {
        hasFailed = true;
      },
      end: () => {
        if (hasEnded) return;
        hasEnded = true;
        this.#end(entry, mark, hasFailed);
      },
    };
  }

  #end(entry: Entry, mark: number, hasFailed: boolean): void {
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
