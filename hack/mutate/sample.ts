/**
 * Chooses a few mutants of each file. The choice depends on hashes of the code around each mutant, so a change of a file
 * exchanges only mutants of the changed lines, and those of other files stay.
 */
import { createHash } from 'node:crypto';
import { overlap } from './instrument.ts';
import { WEIGHTS, type Mutant } from './operators.ts';

/** Lines of code for one mutant, by the lines of code in the folder: each folder has enough, none has thousands. */
const LINES_PER_MUTANT = [
  { below: 1000, lines: 10 },
  { below: 5000, lines: 30 },
  { below: Infinity, lines: 80 },
] as const;
const MOST = 8;
/** Code that runs on import has to be loaded again for each mutant. */
const STATIC_WEIGHT = 0.3;

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** @returns a number between 0 and 1, without both */
function fractionOf(key: string): number {
  const digest = createHash('sha256').update(key).digest();
  return (digest.readUIntBE(0, 6) + 0.5) / 2 ** 48;
}

/** @returns how many mutants a file has, at least one */
export function sizeOf(source: string, linesOfFolder: number): number {
  const { lines } = LINES_PER_MUTANT.find(({ below }) => linesOfFolder < below) ?? LINES_PER_MUTANT[2];
  return Math.min(MOST, Math.max(1, Math.round(linesOf(source) / lines)));
}

/** @returns the mutants with the greatest rank; a kind of twice the weight is chosen twice as often */
export function sampleOf<T extends Mutant>(
  path: string,
  source: string,
  all: readonly T[],
  size: number,
): readonly T[] {
  const seen = new Map<string, number>();
  const ranked = all.map((mutant) => {
    const { operator, start, end, replacement, isStatic } = mutant;
    const lineStart = source.lastIndexOf('\n', start) + 1;
    const place = [lineStart, source.indexOf('\n', end)] as const;
    const code = oneLine(source.slice(place[0], place[1] < 0 ? undefined : place[1]));
    const name = [path, operator, code, oneLine(source.slice(start, end)), oneLine(replacement)].join('\0');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    const weight = WEIGHTS[operator] * (isStatic ? STATIC_WEIGHT : 1);
    return { mutant, rank: Math.log(fractionOf(`${name}\0${String(count)}`)) / weight };
  });
  ranked.sort((a, b) => b.rank - a.rank);
  const chosen: T[] = [];
  for (const { mutant } of ranked) {
    if (chosen.length === size) break;
    if (!chosen.some((other) => overlap(other, mutant))) chosen.push(mutant);
  }
  return chosen.sort((a, b) => a.start - b.start);
}

/** @returns the number of lines with code */
export const linesOf = (source: string): number =>
  source.split('\n').filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line)).length;
