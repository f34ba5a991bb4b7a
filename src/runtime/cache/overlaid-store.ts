/** What readers of a cache see: the stored objects, and over them the own writes that the watch has not delivered yet. */
import { append } from '../../lib/lists.ts';
import { keyOf } from '../keys.ts';
import type { Overlay } from './overlay.ts';
import type { ObjectStore } from './store.ts';
import type { Key, Obj, Store, View } from '../types.ts';

export class OverlaidStore<T extends Obj> implements Store<T> {
  readonly #store: ObjectStore<T>;
  readonly #overlay: Overlay<T>;

  constructor(store: ObjectStore<T>, overlay: Overlay<T>) {
    this.#store = store;
    this.#overlay = overlay;
  }

  get(key: Key): View<T> | undefined {
    const entry = this.#overlay.get(key);
    return entry ? entry.obj : this.#store.get(key);
  }

  peek(key: Key): View<T> | undefined {
    const entry = this.#overlay.get(key);
    return entry ? entry.obj : this.#store.peek(key);
  }

  versionOf(key: Key): string | undefined {
    const entry = this.#overlay.get(key);
    return entry ? entry.obj?.metadata.resourceVersion : this.#store.versionOf(key);
  }

  keys(): Iterable<Key> {
    const own = [...this.#overlay.entries()];
    if (own.length === 0) return this.#store.keys();
    const keys = new Set(this.#store.keys());
    for (const { key, obj } of own)
      if (obj) keys.add(key);
      else keys.delete(key);
    return keys;
  }

  get size(): number {
    let size = this.#store.size;
    for (const { key, obj } of this.#overlay.entries()) {
      size += (obj ? 1 : 0) - (this.#store.has(key) ? 1 : 0);
    }
    return size;
  }

  list(namespace?: string): Iterable<View<T>> {
    const stored = this.#store.list(namespace);
    if (this.#overlay.size === 0) return stored;
    const own = [...this.#overlay.entries()].flatMap(({ obj }) => obj ?? []);
    const isThere = (obj: View<T>): boolean =>
      namespace === undefined || obj.metadata.namespace === namespace;
    return this.#overlaid(stored, own.filter(isThere));
  }

  byIndex(index: string, value: string): readonly View<T>[] {
    const stored = this.#store.byIndex(index, value);
    if (this.#overlay.size === 0) return stored;
    return this.#overlaid(stored, this.#overlay.byIndex(index, value));
  }

  keysByIndex(index: string, value: string): Iterable<Key> {
    const stored = this.#store.keysByIndex(index, value);
    return this.#overlay.size === 0 ? stored : this.#overlaidKeys(stored, index, value);
  }

  *#overlaidKeys(stored: Iterable<Key>, index: string, value: string): Generator<Key> {
    for (const key of stored) if (!this.#overlay.get(key)) yield key;
    for (const obj of this.#overlay.byIndex(index, value)) yield keyOf(obj);
  }

  #overlaid(stored: Iterable<View<T>>, own: Iterable<View<T>>): View<T>[] {
    const result: View<T>[] = [];
    for (const obj of stored) if (!this.#overlay.get(keyOf(obj))) result.push(obj);
    append(result, own);
    return result;
  }
}
