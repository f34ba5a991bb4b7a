/** How much of what a target answered a job keeps: a tenant's server decides how large its objects are. Pure. */

/** What a hundred usual objects have. */
export const MAX_KEPT_VALUES = 65_536;
/** Characters of a string that count as one value. */
const STRING_SHARE = 64;

/** The number of values in `value`, counted until there are more than `most`. */
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

/** Objects of a job, as long as there is room for them. */
export class Kept {
  #left = MAX_KEPT_VALUES;

  /** Whether the object may be kept; if not, it has to be read again where it is needed. */
  admits(object: unknown): boolean {
    const count = valuesIn(object, this.#left);
    if (count > this.#left) return false;
    this.#left -= count;
    return true;
  }
}
