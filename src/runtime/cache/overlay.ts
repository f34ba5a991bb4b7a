/**
 * Writes of this process that the watch has not delivered yet, so that every reader sees them (read your own writes).
 *
 * The response to a write may arrive before or after its event. An entry exists from the response until the watch
 * reaches its version; if the event arrived first, there is no entry. If an object was deleted while the write was in
 * flight, its uid is remembered: otherwise the late response would make the deleted object reappear.
 */
import { Indices, type IndexFunction } from './indices.ts';
import { keyOf } from '../keys.ts';
import type { ObjectStore } from './store.ts';
import type { Change, Key, Obj, View } from '../types.ts';
import type { CompareVersions } from './versions.ts';

interface Entry<T> {
  readonly key: Key;
  readonly uid: string | undefined;
  readonly version: string | undefined;
  /** Undefined: after the write, the cache no longer selects the object. */
  readonly obj: View<T> | undefined;
}

interface UnderWay {
  count: number;
  /** Uids of objects that were deleted during the write. */
  readonly gone: Set<string>;
  /** Version of the last list that completed during the write. */
  listed: string | undefined;
}

export class Overlay<T extends Obj> {
  readonly #store: ObjectStore<T>;
  readonly #compare: CompareVersions;
  readonly #entries = new Map<Key, Entry<T>>();
  readonly #indices = new Indices<View<T>>();
  readonly #underWay = new Map<Key, UnderWay>();

  constructor(store: ObjectStore<T>, compare: CompareVersions) {
    this.#store = store;
    this.#compare = compare;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Entry<T> | undefined {
    return this.#entries.get(key);
  }

  entries(): Iterable<Entry<T>> {
    return this.#entries.values();
  }

  /** The same index as that of the store. */
  index(name: string, valuesOf: IndexFunction<View<T>>): void {
    const objects = [...this.#entries].flatMap(([key, { obj }]) => (obj ? [[key, obj] as const] : []));
    this.#indices.add(name, valuesOf, objects);
  }

  /** Objects found under `value`, by an index: a scan of all entries would be slow when many writes are in flight. */
  *byIndex(name: string, value: string): Iterable<View<T>> {
    for (const key of this.#indices.lookUp(name, value)) {
      const obj = this.#entries.get(key)?.obj;
      if (obj) yield obj;
    }
  }

  #set(key: Key, entry: Entry<T> | undefined): void {
    this.#indices.replace(key, this.#entries.get(key)?.obj, entry?.obj);
    if (entry) this.#entries.set(key, entry);
    else this.#entries.delete(key);
  }

  /** A write of `key` begins. */
  begin(key: Key): void {
    const writes = this.#underWay.get(key);
    if (writes) writes.count++;
    else this.#underWay.set(key, { count: 1, gone: new Set(), listed: undefined });
  }

  /** The write succeeded (after `put`) or failed. */
  end(key: Key): void {
    const writes = this.#underWay.get(key);
    if (writes && --writes.count === 0) this.#underWay.delete(key);
  }

  /**
   * Stores the response of a write, unless the watch has a newer state.
   * @param isSelected whether the cache selects the object
   * @returns whether its event is still to come
   */
  put(begunAs: Key, obj: View<T>, isSelected: boolean): boolean {
    const key = keyOf(obj);
    const { uid, resourceVersion: version } = obj.metadata;
    const meanwhile = this.#underWay.get(begunAs);
    if (uid !== undefined && meanwhile?.gone.has(uid)) return false;
    // A newer list contained the object in a newer state, or did not contain it.
    const sinceListed = this.#compare(version, meanwhile?.listed);
    if (sinceListed !== undefined && sinceListed <= 0) return false;
    if (this.#store.hasReached(key, version)) return false;
    const known = this.#entries.get(key);
    if (this.#isOlder(version, known?.version)) return true;
    // An object that the cache does not select has no event to wait for. Exception: the event that removes it from
    // the selection, if it is selected now or an earlier write of ours will make it so.
    if (!isSelected && !this.#store.has(key) && !known) return false;
    this.#set(key, { key, uid, version, obj: isSelected ? obj : undefined });
    return true;
  }

  /** The store has changed: drops entries that it has reached. */
  observe(change: Change<T>): void {
    if (this.#entries.size === 0 && this.#underWay.size === 0) return;
    const key = keyOf(change.obj);
    const { uid, resourceVersion } = change.obj.metadata;
    if (change.type === 'delete' && uid !== undefined) this.#underWay.get(key)?.gone.add(uid);
    const entry = this.#entries.get(key);
    if (!entry) return;
    if (change.type === 'delete' ? uid === entry.uid : !this.#isOlder(resourceVersion, entry.version)) {
      this.#set(key, undefined);
    }
  }

  /**
   * A complete list at `version` has been stored: drops the entries that it must have contained.
   * @returns objects that are gone, for which there will be no event
   */
  relisted(version: string, isInScope: (key: Key) => boolean): readonly View<T>[] {
    for (const [key, meanwhile] of this.#underWay) if (isInScope(key)) meanwhile.listed = version;
    const gone: View<T>[] = [];
    for (const entry of [...this.#entries.values()]) {
      if (!isInScope(entry.key) || this.#isOlder(version, entry.version)) continue;
      this.#set(entry.key, undefined);
      if (entry.obj && !this.#store.has(entry.key)) gone.push(entry.obj);
    }
    return gone;
  }

  /** Drops everything in scope, because the server's history has restarted. */
  clear(isInScope: (key: Key) => boolean): void {
    for (const key of [...this.#entries.keys()]) if (isInScope(key)) this.#set(key, undefined);
  }

  #isOlder(a: string | undefined, b: string | undefined): boolean {
    const order = this.#compare(a, b);
    return order !== undefined && order < 0;
  }
}
