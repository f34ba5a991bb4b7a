/**
 * Objects by key, as a Map, except that objects which were not used for a while are stored compressed. Large caches
 * consist mostly of such objects: trees whose jobs have ended long ago.
 *
 * An object that is read becomes a JavaScript value again and stays one while it is used, so repeated reads return
 * the same value.
 */
import { Block, BLOCK_CHARACTERS, BLOCK_OBJECTS } from './block.ts';
import type { Key, Obj, View } from '../types.ts';

export class ObjectTable<T extends Obj> {
  readonly #entries = new Map<Key, View<T> | Compressed>();
  readonly #revive: (obj: T) => View<T>;
  #compressed = 0;
  /** Used since the last round of `compressIdle`, and in the round before it. */
  #recent = new Set<Key>();
  #earlier = new Set<Key>();
  /** Blocks that most of their objects have left: the others are moved to new blocks. */
  readonly #sparse = new Set<Block>();
  /** The block that was read last, because readers of many objects read neighbours. */
  #open: { readonly block: Block; readonly lines: readonly string[] } | undefined;

  /** @param revive called with every decompressed object before it is returned */
  constructor(revive: (obj: T) => View<T> = (obj) => obj as View<T>) {
    this.#revive = revive;
  }

  get size(): number {
    return this.#entries.size;
  }

  get compressed(): number {
    return this.#compressed;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** The resource version of the object, without decompressing it. */
  versionOf(key: Key): string | undefined {
    const entry = this.#entries.get(key);
    return entry instanceof Compressed ? entry.version : entry?.metadata.resourceVersion;
  }

  get(key: Key): View<T> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (!(entry instanceof Compressed)) {
      this.#recent.add(key);
      return entry;
    }
    const obj = this.#decompress(entry);
    this.set(key, obj);
    return obj;
  }

  /** As `get`, but does not count as use: a compressed object stays compressed. */
  peek(key: Key): View<T> | undefined {
    const entry = this.#entries.get(key);
    return entry instanceof Compressed ? this.#decompress(entry) : entry;
  }

  set(key: Key, obj: View<T>): void {
    this.#leave(this.#entries.get(key));
    this.#entries.set(key, obj);
    this.#recent.add(key);
  }

  delete(key: Key): void {
    this.#leave(this.#entries.get(key));
    this.#entries.delete(key);
    this.#recent.delete(key);
    this.#earlier.delete(key);
  }

  keys(): IterableIterator<Key> {
    return this.#entries.keys();
  }

  /** In the order in which the objects were added. Does not count as use. */
  *entries(): Generator<readonly [Key, View<T>]> {
    for (const [key, entry] of this.#entries)
      yield [key, entry instanceof Compressed ? this.#decompress(entry) : entry];
  }

  /**
   * Compresses the objects that were not used since the round before the last one.
   * @returns a generator that yields after each block, so that the caller can pause
   */
  *compressIdle(): Generator<void> {
    const candidates = this.#earlier;
    this.#earlier = this.#recent;
    this.#recent = new Set();
    let block = new Pending();
    for (const key of candidates) {
      const entry = this.#earlier.has(key) || this.#recent.has(key) ? undefined : this.#entries.get(key);
      if (entry === undefined || entry instanceof Compressed) continue;
      // What JSON cannot represent, such as a bigint, stays as it is.
      if (!block.add(key, entry)) this.#recent.add(key);
      if (!block.isFull) continue;
      this.#store(block);
      block = new Pending();
      yield;
    }
    this.#store(block);
    yield* this.#repack();
  }

  /** Moves the remaining objects of sparse blocks to new blocks. */
  *#repack(): Generator<void> {
    let block = new Pending();
    for (const sparse of this.#sparse) {
      this.#sparse.delete(sparse);
      const lines = sparse.lines();
      for (const [i, key] of sparse.keys.entries()) {
        const entry = this.#entries.get(key);
        if (entry instanceof Compressed && entry.block === sparse)
          block.addLine(key, lines[i] ?? '', entry.version);
      }
      if (!block.isFull) continue;
      this.#store(block);
      block = new Pending();
      yield;
    }
    this.#store(block);
  }

  /** In the same turn of the event loop as `add`, so no object was used or changed in between. */
  #store({ keys, lines, versions }: Pending): void {
    if (keys.length === 0) return;
    const block = new Block(keys, lines);
    for (const [i, key] of keys.entries()) {
      if (!(this.#entries.get(key) instanceof Compressed)) this.#compressed++;
      this.#entries.set(key, new Compressed(block, i, versions[i]));
    }
  }

  /** The entry no longer reads from its block. */
  #leave(entry: View<T> | Compressed | undefined): void {
    if (!(entry instanceof Compressed)) return;
    const { block } = entry;
    this.#compressed--;
    block.live--;
    if (block.live === 0) this.#sparse.delete(block);
    else if (block.live * 2 < block.keys.length) this.#sparse.add(block);
  }

  #decompress({ block, line }: Compressed): View<T> {
    if (this.#open?.block !== block) this.#open = { block, lines: block.lines() };
    return this.#revive(JSON.parse(this.#open.lines[line] ?? '') as T);
  }
}

/** An object that is read from a block. */
class Compressed {
  readonly block: Block;
  readonly line: number;
  readonly version: string | undefined;

  constructor(block: Block, line: number, version: string | undefined) {
    this.block = block;
    this.line = line;
    this.version = version;
  }
}

/** The objects of the next block. */
class Pending {
  readonly keys: Key[] = [];
  readonly lines: string[] = [];
  readonly versions: (string | undefined)[] = [];
  #characters = 0;

  get isFull(): boolean {
    return this.keys.length >= BLOCK_OBJECTS || this.#characters >= BLOCK_CHARACTERS;
  }

  /** @returns false if JSON cannot represent the object */
  add(key: Key, obj: View<Obj>): boolean {
    try {
      this.addLine(key, JSON.stringify(obj), obj.metadata.resourceVersion);
      return true;
    } catch {
      return false;
    }
  }

  addLine(key: Key, line: string, version: string | undefined): void {
    this.keys.push(key);
    this.lines.push(line);
    this.versions.push(version);
    this.#characters += line.length;
  }
}
