/** Finds any of many strings in another one. Tenants choose all of them, so the work for a position hardly grows with their number. */

/** Characters by which most positions are ruled out; shorter strings are not found. */
export const MIN_SEARCHED = 4;
/** Longer strings are searched in parts, so that a comparison is short. */
const MAX_PART = 256;

export class StringSearch {
  /** Sorted. */
  readonly #parts: readonly string[];
  /** For each part the longest other part that it begins with, or -1. */
  readonly #shorter: Int32Array;
  readonly #heads = new Uint8Array(1 << 16);

  /** @param strings those with fewer than MIN_SEARCHED characters are ignored */
  constructor(strings: Iterable<string>) {
    const parts = new Set<string>();
    for (const one of strings) {
      if (one.length < MIN_SEARCHED) continue;
      // Neighbours share a character, so the parts of one string overlap.
      for (let at = 0; at < one.length - MAX_PART; at += MAX_PART - 1)
        parts.add(one.slice(at, at + MAX_PART));
      parts.add(one.slice(-MAX_PART));
    }
    this.#parts = [...parts].sort();
    for (const part of this.#parts) this.#heads[headOf(part, 0)] = 1;
    this.#shorter = shorterOf(this.#parts);
  }

  /** The longest string at this position that fits, or a part of a long one; undefined if there is none. */
  at(text: string, position: number, fits: (found: string) => boolean = () => true): string | undefined {
    if (this.#heads[headOf(text, position)] === 0) return undefined;
    const rest = text.slice(position, position + MAX_PART);
    // All strings that `rest` begins with are at the beginning of the last one that is not after it.
    for (let i = this.#lastUpTo(rest); i >= 0; i = this.#shorter[i] ?? -1) {
      const part = this.#parts[i] ?? '';
      if (rest.startsWith(part) && fits(part)) return part;
    }
    return undefined;
  }

  /** Position of the last part that is not greater than `text`; -1 if all are. */
  #lastUpTo(text: string): number {
    let [low, high] = [-1, this.#parts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#parts[middle] ?? '') <= text) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** A number for the first characters at a position. */
function headOf(text: string, at: number): number {
  let hash = 0;
  for (let i = at; i < at + MIN_SEARCHED; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 16)) & 0xffff;
}

/** @param sorted a string that another one begins with is before it */
function shorterOf(sorted: readonly string[]): Int32Array {
  const shorter = new Int32Array(sorted.length);
  const open: number[] = [];
  for (const [i, text] of sorted.entries()) {
    while (open.length > 0 && !text.startsWith(sorted[open.at(-1) ?? 0] ?? '')) open.pop();
    shorter[i] = open.at(-1) ?? -1;
    open.push(i);
  }
  return shorter;
}
