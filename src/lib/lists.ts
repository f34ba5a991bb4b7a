/** Lists of any length. A call with a list spread over its arguments overflows the stack from some 100,000 on. */

/** Adds to the end, in place. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const each of more) list.push(each);
}

/** The smallest of all; Infinity when there are none, as `Math.min` has it. */
export function smallest(values: Iterable<number>): number {
  let found = Infinity;
  for (const value of values) found = Math.min(found, value);
  return found;
}

/** The largest of all; -Infinity when there are none, as `Math.max` has it. */
export function largest(values: Iterable<number>): number {
  let found = -Infinity;
  for (const value of values) found = Math.max(found, value);
  return found;
}
