/**
 * Keeps a writer from hearing his own echo, without ever keeping a foreign event from him. One per writer.
 *
 * Scenario: our write is under way and will be version 12; somebody else writes 13; both events arrive before our
 * answer does. While the write is under way events are held; the answer says that 12 is ours, so one change is
 * delivered, from 12 to 13.
 *
 * Why it is safe: only versions of conditional writes are remembered, and those are certainly ours; every foreign
 * write has a version and an event of its own. A gap in the watch ends in a list, and what a list finds is always
 * delivered.
 */
import type { Clock } from '../../lib/clock.ts';
import { keyOf } from '../keys.ts';
import type { ObjectStore } from './store.ts';
import type { Change, Key, Obj, View } from '../types.ts';
import type { CompareVersions } from './versions.ts';

const REMEMBERED_MS = 10 * 60_000;

/** Stands for the time to forget a version that will not come again. */
const PAST = -Infinity;

export interface Answered {
  readonly key: Key;
  readonly version: string;
  readonly isToCome: boolean;
}

interface Writes<T> {
  underWay: number;
  /** Versions that are certainly ours, with the time to forget them: at once when their events have come already. */
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

  /** Keys about which anything is remembered; none at rest. */
  get size(): number {
    return this.#writes.size;
  }

  begin(key: Key): void {
    this.#sweep();
    this.#of(key).underWay++;
  }

  /**
   * The write was answered, or failed.
   * @param begunAs the key given to `begin`, which ends here
   * @param answered where the object turned out to be, the version that is certainly ours, and whether its event is
   *     still to come
   * @returns what was held back and is now to be delivered
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
   * Judges a change that the store has just made.
   * @param isListed found by a list, not told by an event
   * @returns what is to be delivered now
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

  /** A complete list at `version` has been stored: events of older versions will not come any more. */
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

  /** A deletion is never an echo: whoever caused it still has to learn that it is complete. */
  #isEcho(writes: Writes<T>, change: Change<T>): boolean {
    const version = change.obj.metadata.resourceVersion;
    const isEcho = change.type !== 'delete' && version !== undefined && writes.own.delete(version);
    if (isEcho) this.#onEcho(change);
    return isEcho;
  }

  /** One change that leads from what the writer knows to what is stored now; through a deletion if there was one. */
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

  /** Events come in order, so versions that the store has reached or passed will not come again. */
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
