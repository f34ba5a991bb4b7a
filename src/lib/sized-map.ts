/**
 * A map whose keys and values have at most a total size; it drops the entries that were not used for the longest
 * time. Tenants choose keys and values, so keys and empty values count, too: without that, any number of empty values
 * would fit.
 */

/** The memory of an entry besides its key and its value. */
const ENTRY_BYTES = 512;

export class SizedMap<V> {
  readonly #maxBytes: number;
  readonly #bytesOf: (value: V) => number;
  readonly #onDrop: (key: string) => void;
  readonly #entries = new Map<string, V>();
  #size = 0;

  /**
   * @param maxBytes 0: the map stays empty
   * @param onDrop called with the key of an entry that makes place for another one
   */
  constructor(
    maxBytes: number,
    bytesOf: (value: V) => number,
    onDrop: (key: string) => void = () => undefined,
  ) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
    this.#onDrop = onDrop;
  }

  /** Total bytes of all entries. */
  get size(): number {
    return this.#size;
  }

  get items(): number {
    return this.#entries.size;
  }

  /** All values, in no particular order. */
  values(): V[] {
    return [...this.#entries.values()];
  }

  /** The value, which now counts as used. */
  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Replaces the value of the key. A value that is larger than the whole map is not kept. */
  set(key: string, value: V): void {
    this.delete(key);
    const bytes = this.#weight(key, value);
    if (bytes > this.#maxBytes) return;
    this.#entries.set(key, value);
    this.#size += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxBytes) return;
      this.delete(oldest);
      this.#onDrop(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#size -= this.#weight(key, value);
  }

  #weight(key: string, value: V): number {
    return this.#bytesOf(value) + key.length + ENTRY_BYTES;
  }
}

/**
 * The same bytes in memory of their own. Bytes of a response are often a part of a larger piece of memory, which they
 * would keep, and whose other part the server chooses, such as long headers.
 */
export function unshared(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.byteLength);
  own.set(bytes);
  return own;
}
