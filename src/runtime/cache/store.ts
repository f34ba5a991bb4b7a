/**
 * The state that the watch has delivered, by key, and the changes that each event makes.
 *
 * Guarantees: the version of an object never decreases; an object of the same name with another uid is a delete and
 * an add; the same version again is not a change.
 */
import { Indices, type IndexFunction } from './indices.ts';
import { keyOf } from '../keys.ts';
import { ObjectTable } from './object-table.ts';
import type { Change, Key, Obj, Store, View } from '../types.ts';
import type { CompareVersions } from './versions.ts';

/**
 * How an object was delivered: by the first list, a later list, a list that is believed even if it is older than the
 * stored state, or an event.
 */
export type Origin = 'first-list' | 'relist' | 'relist-older' | 'event';

const BY_NAMESPACE = ' namespace';

export class ObjectStore<T extends Obj> implements Store<T> {
  readonly #objects: ObjectTable<T>;
  readonly #indices = new Indices<View<T>>();
  readonly #compare: CompareVersions;
  #isIndexedByNamespace = false;

  /** @param revive called with objects that were stored compressed, before they are returned */
  constructor(compare: CompareVersions, revive?: (obj: T) => View<T>) {
    this.#compare = compare;
    this.#objects = new ObjectTable<T>(revive);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Number of objects that are stored compressed. */
  get compressed(): number {
    return this.#objects.compressed;
  }

  /** @returns a generator that yields after each object, so that the caller can pause */
  compressIdle(): Generator<void> {
    return this.#objects.compressIdle();
  }

  has(key: Key): boolean {
    return this.#objects.has(key);
  }

  /** The object, which stays compressed: for callers that look at all objects. */
  peek(key: Key): View<T> | undefined {
    return this.#objects.peek(key);
  }

  versionOf(key: Key): string | undefined {
    return this.#objects.versionOf(key);
  }

  get(key: Key): View<T> | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): Iterable<View<T>> {
    if (namespace === undefined) return this.#all();
    // The index exists only if a namespace was requested.
    if (!this.#isIndexedByNamespace) {
      this.index(BY_NAMESPACE, (obj) => [obj.metadata.namespace ?? '']);
      this.#isIndexedByNamespace = true;
    }
    return this.byIndex(BY_NAMESPACE, namespace);
  }

  *#all(): Generator<View<T>> {
    for (const [, obj] of this.#objects.entries()) yield obj;
  }

  keys(): IterableIterator<Key> {
    return this.#objects.keys();
  }

  index(name: string, valuesOf: IndexFunction<View<T>>): void {
    this.#indices.add(name, valuesOf, this.#objects.entries());
  }

  byIndex(name: string, value: string): readonly View<T>[] {
    return Array.from(this.#indices.lookUp(name, value), (key) => this.#objects.get(key) as View<T>);
  }

  keysByIndex(name: string, value: string): Iterable<Key> {
    return this.#indices.lookUp(name, value);
  }

  /** Stores a newer object. @returns no change, one change, or a delete and an add */
  put(obj: View<T>, origin: Origin): readonly Change<T>[] {
    const key = keyOf(obj);
    const old = this.#objects.peek(key);
    if (old && !this.#isNews(old, obj, origin)) return [];
    this.#objects.set(key, obj);
    this.#indices.replace(key, old, obj);
    const added = { type: 'add', obj, initial: origin === 'first-list' } as const;
    if (!old) return [added];
    // The delete in between was not seen, so the deleted object may have been newer than the stored one.
    if (isAnother(old, obj)) return [{ type: 'delete', obj: old, finalStateUnknown: true }, added];
    return [{ type: 'update', old, obj, relisted: origin !== 'event' }];
  }

  /** Handles a DELETED event, unless it is older than the stored object or about an earlier object of the same name. */
  delete(obj: View<T>): readonly Change<T>[] {
    const key = keyOf(obj);
    const old = this.#objects.peek(key);
    if (!old || isAnother(old, obj)) return [];
    const order = this.#compare(obj.metadata.resourceVersion, old.metadata.resourceVersion);
    if (order !== undefined && order < 0) return [];
    this.#drop(key, old);
    return [{ type: 'delete', obj, finalStateUnknown: false }];
  }

  /** Removes an object that a complete list did not contain. */
  forget(key: Key): readonly Change<T>[] {
    const old = this.#objects.peek(key);
    if (!old) return [];
    this.#drop(key, old);
    return [{ type: 'delete', obj: old, finalStateUnknown: true }];
  }

  /** Whether the stored object has `version` or a newer one. */
  hasReached(key: Key, version: string | undefined): boolean {
    if (!this.#objects.has(key)) return false;
    const order = this.#compare(this.#objects.versionOf(key), version);
    return order !== undefined && order >= 0;
  }

  #drop(key: Key, old: View<T>): void {
    this.#objects.delete(key);
    this.#indices.replace(key, old, undefined);
  }

  #isNews(old: View<T>, obj: View<T>, origin: Origin): boolean {
    const order = this.#compare(obj.metadata.resourceVersion, old.metadata.resourceVersion);
    if (order === undefined) return true;
    if (origin === 'relist-older' && order !== 0) return true;
    return order > 0 || (order === 0 && isAnother(old, obj));
  }
}

const isAnother = (a: View<Obj>, b: View<Obj>): boolean =>
  a.metadata.uid !== undefined && b.metadata.uid !== undefined && a.metadata.uid !== b.metadata.uid;
