/**
 * Counts the structure of a JSON text while its bytes arrive, so that texts beyond a limit are not parsed. A simple
 * loop over bytes: it skips strings and escapes, and validates nothing, because a parser does it later.
 */

export interface StructureLimits {
  /** Maximum nesting of arrays and objects. */
  readonly maxDepth: number;
  /** Maximum number of values, counted as commas and opening brackets. */
  readonly maxElements: number;
}

/** The exceeded limit. */
export type StructureExcess = 'depth' | 'elements';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** One text, in pieces; multi-byte characters may be split between them. */
export class JsonScan {
  readonly #limits: StructureLimits;
  #depth = 0;
  #elements = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(limits: StructureLimits) {
    this.#limits = limits;
  }

  /** Number of values so far. */
  get elements(): number {
    return this.#elements;
  }

  /** @returns the limit that the text exceeds after these bytes; undefined: none */
  feed(bytes: Uint8Array): StructureExcess | undefined {
    const { maxDepth, maxElements } = this.#limits;
    let at = 0;
    while (at < bytes.length) {
      if (this.#isInString) {
        at = this.#afterString(bytes, at);
        continue;
      }
      switch (bytes[at++]) {
        case QUOTE:
          this.#isInString = true;
          break;
        case OPEN_ARRAY:
        case OPEN_OBJECT:
          this.#elements++;
          if (++this.#depth > maxDepth) return 'depth';
          break;
        case CLOSE_ARRAY:
        case CLOSE_OBJECT:
          this.#depth--;
          break;
        case COMMA:
          this.#elements++;
          break;
        default:
      }
      if (this.#elements > maxElements) return 'elements';
    }
    return undefined;
  }

  /** Position of the end of the string, or of the bytes. */
  #afterString(bytes: Uint8Array, start: number): number {
    let at = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH) {
        at++;
        this.#isEscaped = at >= bytes.length;
      } else if (byte === QUOTE) {
        this.#isInString = false;
        return at + 1;
      }
    }
    return bytes.length;
  }
}

/** Minimum memory of a value, for the count. */
export const BYTES_OF_VALUE = 32;

/** Size of a JSON document for limits: the bytes of its text, or 32 for each value if that is more. */
export function weightOf(json: string): number {
  const bytes = Buffer.from(json);
  const scan = new JsonScan({ maxDepth: Infinity, maxElements: Infinity });
  scan.feed(bytes);
  return Math.max(bytes.length, BYTES_OF_VALUE * scan.elements);
}

/** The limit that a complete document exceeds. */
export const structureExcess = (bytes: Uint8Array, limits: StructureLimits): StructureExcess | undefined =>
  new JsonScan(limits).feed(bytes);
