/** Finds the known word that a misspelt one is most similar to. */

/** Longer words have no suggestion, and more words are not compared: both can come from tenants. */
const MAX_LETTERS = 100;
const MAX_WORDS = 1000;

/** @returns the most similar known word, if it is similar enough; case is ignored */
export function closest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_LETTERS) return undefined;
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known.slice(0, MAX_WORDS)) {
    if (Math.abs(candidate.length - word.length) >= least) continue; // at least so many letters differ
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** The end of a sentence about an unknown word: a similar known word, or all known words. */
export function hintFor(
  word: string,
  known: readonly string[],
  otherwise = `known are ${known.join(', ')}`,
): string {
  const meant = closest(word, known);
  return meant === undefined ? otherwise : `did you mean ${meant}?`;
}

/** Number of letters to insert, remove, replace, or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      const isSwapped = i > 0 && j > 0 && letter === b[j - 1] && a[i - 1] === other;
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
