/** Storage of sources whose values are not Kubernetes objects: several values per primary, identified by an id. */
import { equal } from '../../lib/json.ts';
import type { Key } from '../types.ts';

/** How the values of a primary are identified and compared. */
export interface ValueShape<V> {
  /** The id of a value within its primary. Default: one value per primary. */
  readonly idOf?: (value: V) => string;
  /** Whether two versions of a value are equal. Default: deep equality. */
  readonly isEqual?: (a: V, b: V) => boolean;
}

export class Values<V> {
  readonly #idOf: (value: V) => string;
  readonly #isEqual: (a: V, b: V) => boolean;
  readonly #values = new Map<Key, ReadonlyMap<string, V>>();

  constructor(shape: ValueShape<V>) {
    this.#idOf = shape.idOf ?? (() => '');
    this.#isEqual = shape.isEqual ?? equal;
  }

  has(key: Key): boolean {
    return this.#values.has(key);
  }

  keys(): Key[] {
    return [...this.#values.keys()];
  }

  of(key: Key): readonly V[] {
    return [...(this.#values.get(key)?.values() ?? [])];
  }

  /** Replaces all values of `key`. @returns whether they changed */
  set(key: Key, values: readonly V[]): boolean {
    const before = this.#values.get(key);
    const after = new Map(values.map((value) => [this.#idOf(value), value]));
    this.#values.set(key, after);
    if ((before?.size ?? 0) !== after.size) return true;
    for (const [id, value] of after) {
      const old = before?.get(id);
      if (!before?.has(id) || !this.#isEqual(old as V, value)) return true;
    }
    return false;
  }

  /** Adds or replaces one value. @returns whether it changed */
  put(key: Key, value: V): boolean {
    const others = this.of(key).filter((other) => this.#idOf(other) !== this.#idOf(value));
    return this.set(key, [...others, value]);
  }

  /** Removes one value, or all. @returns whether there was one */
  remove(key: Key, id?: string): boolean {
    const before = this.#values.get(key);
    if (!before || before.size === 0) {
      this.#values.delete(key);
      return false;
    }
    if (id === undefined) return this.#values.delete(key);
    if (!before.has(id)) return false;
    this.#values.set(key, new Map([...before].filter(([other]) => other !== id)));
    return true;
  }
}
