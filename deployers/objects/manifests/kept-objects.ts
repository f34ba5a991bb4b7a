/**
 * Limits how much of a target's responses a job keeps in memory, because a tenant's server determines their size.
 * Pure.
 */

/** Enough for a hundred typical objects. */
export const MAX_KEPT_VALUES = 65_536;
/** Characters of a string that count as one value. */
const STRING_SHARE = 64;

/** The number of values in `value`; counting stops above `most`. */
export function valuesIn(value: unknown, most: number): number {
  const left: unknown[] = [value];
  let count = 0;
  while (left.length > 0 && count <= most) {
    const next = left.pop();
    count += typeof next === 'string' ? 1 + Math.floor(next.length / STRING_SHARE) : 1;
    if (typeof next !== 'object' || next === null) continue;
    for (const field of Object.values(next)) left.push(field);
  }
  return count;
}

/** Counts the objects that a job keeps. */
export class KeptObjects {
  #left = MAX_KEPT_VALUES;

  /** Whether the object may be kept; if not, it is read again when it is needed. */
  admits(object: unknown): boolean {
    const count = valuesIn(object, this.#left);
    if (count > this.#left) return false;
    this.#left -= count;
    return true;
  }
}
