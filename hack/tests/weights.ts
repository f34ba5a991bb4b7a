/**
 * How long test files took: of the last run on this machine, otherwise those of hack/tests/weights.json, which has the
 * longest ones. They decide the order only, so wrong or missing ones do no harm.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './suites.ts';
import type { Weights } from './schedule.ts';

const COMMITTED = join(root, 'hack/tests/weights.json');
const CACHE = join(root, '.cache/tests/weights.json');
/** The committed table has what takes longer than this. */
const LONG_MS = 4000;

function read(file: string): Weights {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Weights;
  } catch {
    return {}; // of a run that was killed while it wrote
  }
}

export const readWeights = (): Weights => ({ ...read(COMMITTED), ...read(CACHE) });

const text = (weights: readonly (readonly [string, number])[]): string =>
  `${JSON.stringify(Object.fromEntries(weights), null, 2)}\n`;

/** @param measured of this run; with `commit`, the longest ones also replace the committed table */
export function keepWeights(measured: Weights, { commit }: { readonly commit: boolean }): void {
  const all = Object.entries({ ...read(CACHE), ...measured });
  mkdirSync(dirname(CACHE), { recursive: true });
  writeFileSync(CACHE, text(all));
  if (!commit) return;
  const long = Object.entries({ ...read(COMMITTED), ...measured })
    .filter(([, ms]) => ms >= LONG_MS)
    .map(([name, ms]) => [name, Math.round(ms / 100) * 100] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(COMMITTED, text(long));
}
