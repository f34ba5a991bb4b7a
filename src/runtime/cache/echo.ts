/**
 * Hides from a controller the events of its own writes (echoes), and never an event of another writer. One filter per
 * writer.
 *
 * Example: our write is in flight and gets version 12; another client writes 13; both events arrive before our
 * response. Events are held back while the write is in flight. The response says that 12 is ours, so one change is
 * delivered, from 12 to 13.
 *
 * Why this is safe: only versions of conditional writes are remembered, and those are certainly ours. Each write of
 * others has its own version and event. A gap in the watch ends with a list, and changes that a list finds are always
 * delivered.
 */
import type { Clock } from '../../lib/clock.ts';
import { keyOf } from '../keys.ts';
import type { ObjectStore } from './store.ts';
import type { Change, Key, Obj, View } from '../types.ts';
import type { CompareVersions } from './versions.ts';

const REMEMBERED_MS = 10 * 60_000;

/** Marks versions that can be forgotten at once. */
const PAST = -Infinity;

export interface Answered {
  readonly key: Key;
  readonly version: string;
  readonly isToCome: boolean;
}

interface Writes<T> {
  underWay: number;
  /**
   * Versions that are certainly ours, with the time to forget them: immediately if their events have already arrived.
   */
  readonly own: Map<string, number>;
  held: Change<T>[];
}

export class EchoFilter<T extends Obj> {
  readonly #store: ObjectStore<T>;
  readonly #compare: CompareVersions;
  readonly #clock: Clock;
  readonly #onEcho: (change: Change<T>) => void;
  readonly #writes = new Map<Key, Writes<T>>();
  #sweptAt: number;

  constructor(
    store: ObjectStore<T>,
    compare: CompareVersions,
    clock: Clock,
    onEcho: (change: Change<T>) => void = () => undefined,
  ) {
    this.#store = store;
    this.#compare = compare;
    this.#clock = clock;
    this.#onEcho = onEcho;
    this.#sweptAt = clock.now();
  }

  /** Number of keys with remembered versions; 0 when idle. */
  get size(): number {
    return this.#writes.size;
  }

  begin(key: Key): void {
    this.#sweep();
    this.#of(key).underWay++;
  }

  /**
   * The write succeeded or failed.
   * @param begunAs the key given to `begin`
   * @param answered the key of the stored object, the version that is certainly ours, and whether its event is still
   * to come
   * @returns changes that were held back and must be delivered now
   */
  end(begunAs: Key, answered?: Answered): readonly Change<T>[] {
    const writes = this.#of(begunAs);
    if (answered) {
      const target = this.#of(answered.key);
      target.own.set(answered.version, answered.isToCome ? this.#clock.now() + REMEMBERED_MS : PAST);
      if (target !== writes) this.#prune(answered.key, target);
    }
    writes.underWay--;
    if (writes.underWay > 0) return [];
    const remaining = writes.held.filter((change) => !this.#isEcho(writes, change));
    writes.held = [];
    this.#prune(begunAs, writes);
    return this.#merged(begunAs, remaining);
  }

  /**
   * Handles a change that the store has just made.
   * @param isListed the change was found by a list, not by an event
   * @returns changes to deliver now
   */
  admit(change: Change<T>, isListed: boolean): readonly Change<T>[] {
    if (this.#writes.size === 0) return [change];
    const key = keyOf(change.obj);
    const writes = this.#writes.get(key);
    if (!writes) return [change];
    if (isListed) {
      const held = writes.held;
      writes.held = [];
      return this.#merged(key, [...held, change]);
    }
    if (writes.underWay > 0) {
      writes.held.push(change);
      return [];
    }
    const isEcho = this.#isEcho(writes, change);
    this.#prune(key, writes);
    return isEcho ? [] : [change];
  }

  /** A complete list at `version` has been stored: there will be no more events of older versions. */
  relisted(version: string, isInScope: (key: Key) => boolean): void {
    for (const [key, writes] of this.#writes) {
      if (!isInScope(key)) continue;
      for (const own of writes.own.keys()) {
        const order = this.#compare(own, version);
        if (order === undefined || order <= 0) writes.own.delete(own);
      }
      this.#dropIfEmpty(key, writes);
    }
  }

  /** The objects in `isOutside` are no longer watched. */
  drop(isOutside: (key: Key) => boolean): void {
    for (const [key, writes] of this.#writes) {
      if (!isOutside(key)) continue;
      writes.own.clear();
      writes.held = [];
      this.#dropIfEmpty(key, writes);
    }
  }

  /** A deletion is never an echo: its author must also learn that it is complete. */
  #isEcho(writes: Writes<T>, change: Change<T>): boolean {
    const version = change.obj.metadata.resourceVersion;
    const isEcho = change.type !== 'delete' && version !== undefined && writes.own.delete(version);
    if (isEcho) this.#onEcho(change);
    return isEcho;
  }

  /**
   * One change from the last state that the writer knows to the stored state; with a deletion in between, if there
   * was one.
   */
  #merged(key: Key, changes: readonly Change<T>[]): readonly Change<T>[] {
    const [first] = changes;
    if (!first || changes.length === 1) return changes;
    const stored = this.#store.get(key);
    const deletion = changes.findLast((change) => change.type === 'delete');
    if (deletion) return stored ? [deletion, { type: 'add', obj: stored, initial: false }] : [deletion];
    const obj: View<T> = stored ?? first.obj;
    if (first.type !== 'update') return [{ type: 'add', obj, initial: false }];
    const relisted = changes.some((change) => change.type === 'update' && change.relisted);
    return [{ type: 'update', old: first.old, obj, relisted }];
  }

  #of(key: Key): Writes<T> {
    let writes = this.#writes.get(key);
    if (!writes) {
      writes = { underWay: 0, own: new Map(), held: [] };
      this.#writes.set(key, writes);
    }
    return writes;
  }

  /** Events arrive in order, so versions up to the stored one do not arrive again. */
  #prune(key: Key, writes: Writes<T>): void {
    for (const [version, until] of writes.own) {
      if (until === PAST || this.#store.hasReached(key, version)) writes.own.delete(version);
    }
    this.#dropIfEmpty(key, writes);
  }

  #dropIfEmpty(key: Key, writes: Writes<T>): void {
    if (writes.underWay === 0 && writes.own.size === 0) this.#writes.delete(key);
  }

  #sweep(): void {
    const now = this.#clock.now();
    if (now - this.#sweptAt < REMEMBERED_MS) return;
    this.#sweptAt = now;
    for (const [key, writes] of this.#writes) {
      for (const [version, until] of writes.own) if (until <= now) writes.own.delete(version);
      this.#dropIfEmpty(key, writes);
    }
  }
}
