/** A stable sort with Go's order of comparisons, so that an inconsistent comparison gives the same result. */

/** Go uses insertion sort for short lists and for blocks of this size. */
const PIECE = 20;

/** @param isBefore whether `a` must precede `b`; an exception ends the sort */
export function sortStable<T>(items: readonly T[], isBefore: (a: T, b: T) => boolean): T[] {
  let pieces: T[][] = [];
  for (let i = 0; i < items.length; i += PIECE)
    pieces.push(insertionSort(items.slice(i, i + PIECE), isBefore));
  while (pieces.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < pieces.length; i += 2) {
      merged.push(merge(pieces[i] as T[], pieces[i + 1] ?? [], isBefore));
    }
    pieces = merged;
  }
  return pieces[0] ?? [];
}

function insertionSort<T>(items: T[], isBefore: (a: T, b: T) => boolean): T[] {
  for (let i = 1; i < items.length; i++) {
    for (let j = i; j > 0 && isBefore(items[j] as T, items[j - 1] as T); j--) {
      const moved = items[j] as T;
      items[j] = items[j - 1] as T;
      items[j - 1] = moved;
    }
  }
  return items;
}

function merge<T>(left: readonly T[], right: readonly T[], isBefore: (a: T, b: T) => boolean): T[] {
  const merged: T[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    merged.push(isBefore(right[j] as T, left[i] as T) ? (right[j++] as T) : (left[i++] as T));
  }
  return [...merged, ...left.slice(i), ...right.slice(j)];
}
