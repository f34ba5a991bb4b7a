/** Named lookups over a set of objects. Keys are indexed, not objects, so an index keeps nothing alive. */
import { DefinitionError } from '../errors.ts';
import type { Key } from '../types.ts';

/** In most indices a value has one object. A set for each value would need more memory than the keys. */
type Keys = Key | Set<Key>;

export type IndexFunction<T> = (obj: T) => readonly string[];

export class Indices<T> {
  readonly #indices = new Map<
    string,
    { readonly valuesOf: IndexFunction<T>; readonly keys: Map<string, Keys> }
  >();

  /** @returns false if an index of this name already exists */
  add(name: string, valuesOf: IndexFunction<T>, existing: Iterable<readonly [Key, T]>): boolean {
    if (this.#indices.has(name)) return false;
    const keys = new Map<string, Keys>();
    this.#indices.set(name, { valuesOf, keys });
    for (const [key, obj] of existing) for (const value of valuesOf(obj)) insert(keys, value, key);
    return true;
  }

  /** Updates the indices after the object of `key` changed; undefined means that there is no object. */
  replace(key: Key, old: T | undefined, obj: T | undefined): void {
    for (const { valuesOf, keys } of this.#indices.values()) {
      const before = old === undefined ? [] : valuesOf(old);
      const after = obj === undefined ? [] : valuesOf(obj);
      // Most objects have one value in an index, which rarely changes.
      if (before.length === 1 && after.length === 1 && before[0] === after[0]) continue;
      const dropped = new Set(before);
      for (const value of after) {
        dropped.delete(value);
        insert(keys, value, key);
      }
      for (const value of dropped) remove(keys, value, key);
    }
  }

  /** @throws DefinitionError when there is no such index */
  lookUp(name: string, value: string): Iterable<Key> {
    const keys = this.#get(name).keys.get(value);
    if (keys === undefined) return [];
    return typeof keys === 'string' ? [keys] : keys;
  }

  #get(name: string): { readonly valuesOf: IndexFunction<T>; readonly keys: Map<string, Keys> } {
    const index = this.#indices.get(name);
    if (!index)
      throw new DefinitionError({ message: `index ${name} does not exist; add it before it is used` });
    return index;
  }
}

function insert(keys: Map<string, Keys>, value: string, key: Key): void {
  const present = keys.get(value);
  if (present === undefined) keys.set(value, key);
  else if (typeof present !== 'string') present.add(key);
  else if (present !== key) keys.set(value, new Set([present, key]));
}

function remove(keys: Map<string, Keys>, value: string, key: Key): void {
  const present = keys.get(value);
  if (present === key) keys.delete(value);
  else if (present instanceof Set) {
    present.delete(key);
    if (present.size === 0) keys.delete(value);
  }
}
