/** Scenarios that would stop half-way, where the reason is a deviation, go on to their end. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A wait of a scenario that ends in another phase here: `KIND NAME` and the phase. */
interface OtherEnd {
  readonly kind: string;
  readonly name: string;
  /** The phase that the scenario waits for, and the one in which it ends here. */
  readonly instead: Readonly<Record<string, string>>;
  /** The wait after which the phases are as in the scenario again, counted from one; absent for all. */
  readonly times?: number;
}

/** By the name of the scenario; the reasons are in test/conformance/wire/deviations.json. */
const OTHER_ENDS: Readonly<Record<string, readonly OtherEnd[]>> = {
  'DF-052-conflicts': [{ kind: 'installations', name: 'third', instead: { Succeeded: 'Failed' }, times: 1 }],
};

/** The file to play: the one of the recordings, or one around it, in `work`, whose waits end as they do here. */
export function scenarioFile(name: string, folder: string, work: string): string {
  const original = join(folder, `${name}.mjs`);
  const ends = OTHER_ENDS[name];
  if (!ends) return original;
  const file = join(work, `${name}.mjs`);
  writeFileSync(file, around(pathToFileURL(original).href, ends));
  return file;
}

const around = (original: string, ends: readonly OtherEnd[]): string => `
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
