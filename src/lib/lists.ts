/** Lists of any length. A call that spreads a list of more than about 100,000 elements overflows the stack. */

/** Appends in place. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const each of more) list.push(each);
}

/** The smallest number; Infinity if there are none, like `Math.min`. */
export function smallest(values: Iterable<number>): number {
  let found = Infinity;
  for (const value of values) found = Math.min(found, value);
  return found;
}

/** The largest number; -Infinity if there are none, like `Math.max`. */
export function largest(values: Iterable<number>): number {
  let found = -Infinity;
  for (const value of values) found = Math.max(found, value);
  return found;
}

/** The first `limit` lines, and a line that counts the others. */
export const firstLines = (lines: readonly string[], limit: number): string => {
  const more = lines.length - limit;
  return [...lines.slice(0, limit), ...(more > 0 ? [`and ${String(more)} more`] : [])].join('\n');
};
