/** The difference between two strings, line by line. Pure; the web console uses it as well. */

/** One line of a string: unchanged, removed or added. */
interface LineChange {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

const CONTEXT_LINES = 2;
/** Above this product of the numbers of lines, all lines are shown as removed and added. */
const MAX_CELLS = 4_000_000;

/** The different lines of two strings with some context; `…` marks omitted lines. */
export function lineDiff(before: string, after: string, maxCells = MAX_CELLS): readonly LineChange[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const all = old.length * now.length > maxCells ? wholesale(old, now) : longestCommon(old, now);
  const isNear = (at: number): boolean =>
    all.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ sign }) => sign !== ' ');
  const shown: LineChange[] = [];
  for (const [i, change] of all.entries()) {
    if (isNear(i)) shown.push(change);
    else if (shown.at(-1)?.line !== '…') shown.push({ sign: ' ', line: '…' });
  }
  return shown;
}

const wholesale = (old: readonly string[], now: readonly string[]): LineChange[] => [
  ...old.map((line) => ({ sign: '-' as const, line })),
  ...now.map((line) => ({ sign: '+' as const, line })),
];

function longestCommon(old: readonly string[], now: readonly string[]): LineChange[] {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const result: LineChange[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      result.push({ sign: ' ', line: old[i++] ?? '' });
      j++;
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      result.push({ sign: '-', line: old[i++] ?? '' });
    } else result.push({ sign: '+', line: now[j++] ?? '' });
  }
  return result;
}
