/** Keys of lists and trees. Pure. */

/** The index after a key of a list; undefined for other keys. */
export function indexAfter(key: string, index: number, count: number, page = 15): number | undefined {
  const last = count - 1;
  const within = (target: number): number => Math.max(0, Math.min(last, target));
  switch (key) {
    case 'ArrowDown':
      return within(index + 1);
    case 'ArrowUp':
      return within(index - 1);
    case 'PageDown':
      return within(index + page);
    case 'PageUp':
      return within(index - page);
    case 'Home':
      return within(0);
    case 'End':
      return within(last);
    default:
      return undefined;
  }
}
