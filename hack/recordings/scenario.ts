/** Adapts scenarios that end differently here because of a deviation, so that they continue to their end. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A wait of a scenario that ends in another phase here: `KIND NAME` and the phase. */
interface AdaptedWait {
  readonly kind: string;
  readonly name: string;
  /** The awaited phase, and the phase in which it ends here. */
  readonly instead: Readonly<Record<string, string>>;
  /** Number of waits that are adapted, counted from one; absent for all. */
  readonly times?: number;
}

/** By the name of the scenario; the reasons are in test/conformance/wire/deviations.json. */
const ADAPTED_WAITS: Readonly<Record<string, readonly AdaptedWait[]>> = {
  'DF-052-conflicts': [{ kind: 'installations', name: 'third', instead: { Succeeded: 'Failed' }, times: 1 }],
};

/** The file to play: the recorded scenario, or a wrapper in `work` with adapted waits. */
export function scenarioFile(name: string, folder: string, work: string): string {
  const original = join(folder, `${name}.mjs`);
  const ends = ADAPTED_WAITS[name];
  if (!ends) return original;
  const file = join(work, `${name}.mjs`);
  writeFileSync(file, around(pathToFileURL(original).href, ends));
  return file;
}

const around = (original: string, ends: readonly AdaptedWait[]): string => `
import * as scenario from ${JSON.stringify(original)};
export * from ${JSON.stringify(original)};
const ends = ${JSON.stringify(ends)};
const seen = new Map();
function phaseOf(kind, name, phase) {
  const end = ends.find((each) => each.kind === kind && each.name === name && each.instead[phase]);
  if (!end) return phase;
  const count = (seen.get(end) ?? 0) + 1;
  seen.set(end, count);
  return count > (end.times ?? Infinity) ? phase : end.instead[phase];
}
export const run = (k) =>
  scenario.run({
    ...k,
    finished: (kind, name, options = {}) =>
      k.finished(kind, name, { ...options, phase: phaseOf(kind, name, options.phase) }),
  });
`;
