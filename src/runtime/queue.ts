/**
 * Who runs next: keys that are ready, running, dirty or waiting for their timer. It holds no object and no policy.
 *
 * The one subtle idea: an event for a running key does not queue it but makes the turn dirty, and only the end
 * of the turn makes the key ready again. That is why no key ever has two runs in flight, and why any number of
 * events during a run cause exactly one more.
 */
import { Alarm } from '../lib/alarm.ts';
import type { Clock } from '../lib/clock.ts';
import { Heap, type HeapItem } from './heap.ts';
import type { Key } from './types.ts';

export type TimerKind = 'retry' | 'again' | 'sync' | 'limit';

/** Priority of what a first list brings; edits have 0 and overtake it. */
export const INITIAL_PRIORITY = -100;

/** One key in the hands of one worker. */
export interface Turn {
  readonly key: Key;
  readonly priority: number;
  /** Whether an event arrived since the turn began. */
  dirty(): boolean;
  /** Gives the key back; a dirty one is ready again at once. */
  end(): void;
}

/**
 * *Guarantees*: at most one turn and at most one timer per key; first in, first out within a priority; the
 * highest priority first. *Errors*: none.
 */
export interface WorkQueue {
  /**
   * Ready now, or once the current turn ends. Adding again keeps the higher priority.
   * @returns `merged` when the key was waiting for a turn already
   */
  add(key: Key, priority?: number): 'queued' | 'merged';
  /** Sets the key's only timer; one set before is replaced. Nothing to wait for means ready now. */
  after(key: Key, ms: number, kind: TimerKind, priority?: number): void;
  /** Forgets what the key waits for: its place, its timer, and that its turn is dirty. A turn goes on. */
  cancel(key: Key): void;
  /** The next turn; beginning it removes the key's timer. Undefined when the queue is closed. */
  take(): Promise<Turn | undefined>;
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

interface Entry extends HeapItem {
  readonly key: Key;
  /** Ready entries are those with a place in the heap. */
  isRunning: boolean;
  isDirty: boolean;
  priority: number;
  seq: number;
  readySince: number;
  timer: Timer | undefined;
}

type Waiter = (turn: Turn | undefined) => void;

export interface QueueObserver {
  /** A key got a place in the queue. */
  added(): void;
  /** A key left the queue after so long. */
  taken(waitedMs: number): void;
}

const nobody: QueueObserver = { added() {}, taken() {} };

export function createQueue(clock: Clock, observer: QueueObserver = nobody): WorkQueue {
  return new KeyQueue(clock, observer);
}

class KeyQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver;
  readonly #entries = new Map<Key, Entry>();
  readonly #ready = new Heap<Entry>(
    (a, b) => a.priority > b.priority || (a.priority === b.priority && a.seq < b.seq),
  );
  readonly #timers = new Heap<Timer>((a, b) => a.when < b.when || (a.when === b.when && a.seq < b.seq));
  readonly #depths = new Map<number, number>();
  readonly #waiters = new Set<Waiter>();
  readonly #alarm: Alarm;
  #seq = 0;
  #isClosed = false;

  constructor(clock: Clock, observer: QueueObserver) {
    this.#clock = clock;
    this.#observer = observer;
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
    this.#waiters.clear();
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
    if (entry.place >= 0) {
      if (priority > entry.priority) this.#raise(entry, priority);
      return 'merged';
    }
    this.#makeReady(entry, priority);
    return 'queued';
  }

  after(key: Key, ms: number, kind: TimerKind, priority = 0): void {
    if (this.#isClosed) return;
    const entry = this.#entryOf(key);
    this.#dropTimer(entry);
    if (!(ms > 0)) {
      this.add(key, priority);
      return;
    }
    const when = this.#clock.now() + ms;
    entry.timer = { key, when, kind, priority, seq: this.#seq++, place: -1 };
    this.#timers.push(entry.timer);
    this.#arm();
  }

  cancel(key: Key): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#dropTimer(entry);
    entry.isDirty = false;
    if (entry.place >= 0) this.#leave(entry);
    this.#forgetIdle(entry);
    this.#arm();
  }

  take(): Promise<Turn | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    const entry = this.#ready.peek();
    if (entry) return Promise.resolve(this.#begin(entry));
    return new Promise((resolve) => this.#waiters.add(resolve));
  }

  #entryOf(key: Key): Entry {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = {
        key,
        isRunning: false,
        isDirty: false,
        priority: 0,
        seq: 0,
        readySince: 0,
        timer: undefined,
        place: -1,
      };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #makeReady(entry: Entry, priority: number): void {
    entry.priority = priority;
    entry.seq = this.#seq++;
    entry.readySince = this.#clock.now();
    this.#ready.push(entry);
    this.#count(priority, 1);
    this.#observer.added();
    for (const waiter of this.#waiters) {
      this.#waiters.delete(waiter);
      waiter(this.#begin(entry));
      return;
    }
  }

  #raise(entry: Entry, priority: number): void {
    this.#count(entry.priority, -1);
    entry.priority = priority;
    this.#count(priority, 1);
    this.#ready.moved(entry);
  }

  #leave(entry: Entry): void {
    this.#ready.remove(entry);
    this.#count(entry.priority, -1);
  }

  #begin(entry: Entry): Turn {
    this.#leave(entry);
    this.#dropTimer(entry);
    entry.isRunning = true;
    entry.isDirty = false;
    this.#observer.taken(this.#clock.now() - entry.readySince);
    let hasEnded = false;
    return {
      key: entry.key,
      priority: entry.priority,
      dirty: () => entry.isDirty,
      end: () => {
        if (hasEnded) return;
        hasEnded = true;
        entry.isRunning = false;
        if (entry.isDirty) {
          entry.isDirty = false;
          this.#makeReady(entry, entry.priority);
        } else {
          this.#forgetIdle(entry);
        }
      },
    };
  }

  #forgetIdle(entry: Entry): void {
    if (!entry.isRunning && entry.place < 0 && !entry.timer) this.#entries.delete(entry.key);
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
