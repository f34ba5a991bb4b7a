/**
 * A few objects as one compressed text. Objects of a kind have most of their text in common, so in a block each takes
 * about a tenth of the memory of its JavaScript value. Larger blocks are only slightly smaller per object, but take
 * longer to read: an object is read by decompressing its whole block.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Key } from '../types.ts';

/** A block ends at either limit. */
export const BLOCK_OBJECTS = 16;
export const BLOCK_CHARACTERS = 64 * 1024;

export class Block {
  /** Of all objects with which the block was made. */
  readonly keys: readonly Key[];
  /** How many of them are still read from it. */
  live: number;
  /** One byte per character: a string needs less memory than a buffer, and is immutable. */
  readonly #text: string;

  /** @param lines JSON of one object each, which contains no line breaks */
  constructor(keys: readonly Key[], lines: readonly string[]) {
    this.keys = keys;
    this.live = keys.length;
    this.#text = deflateRawSync(lines.join('\n'), { level: 1 }).toString('latin1');
  }

  /** @returns the JSON of each object */
  lines(): readonly string[] {
    return inflateRawSync(Buffer.from(this.#text, 'latin1')).toString().split('\n');
  }
}
