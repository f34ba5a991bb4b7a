/** What matchers remember about objects, by uid, with a maximum size. */
import { exactJson } from '../lib/exact-json.ts';
import { sha1Hex } from '../lib/hash.ts';
import { isObject } from '../lib/objects.ts';

/** Maximum number of remembered responses and matches; objects beyond it are compared or applied again. */
export const REMEMBERED = 20_000;

/** A map with a maximum size, which drops the oldest entry. */
export class Memory<V> {
  readonly #entries = new Map<string, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(uid: string | undefined): V | undefined {
    return uid === undefined ? undefined : this.#entries.get(uid);
  }

  set(uid: string, entry: V): void {
    this.#entries.delete(uid);
    this.#entries.set(uid, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) return;
      this.#entries.delete(oldest);
    }
  }
}

/** The same for equal JSON values, whatever the order of their keys. */
export const hashOf = (value: unknown): string => sha1Hex(exactJson(sorted(value)));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
