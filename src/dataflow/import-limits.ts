/**
 * How much one installation may import. All of it is counted before it is read or handed to a template: each import is
 * a value of its own there, however often the same object is named.
 */
import type { Installation } from '../api/kinds/installation.ts';
import type { View } from '../lib/objects.ts';

/** Imports of one installation, and names of targets in its lists and maps. */
const MAX_IMPORTS = 1000;
const MAX_IMPORTED_TARGETS = 10_000;
/** Of all values that one installation imports, as JSON. */
const MAX_IMPORT_MIB = 16;
const MAX_IMPORT_BYTES = MAX_IMPORT_MIB << 20;

const divide = 'divide them among sub-installations';

/** Asks for numbers alone, so it takes no time. @returns the sentence, when there are too many imports to be read */
export function tooManyImports({ spec }: View<Installation>): string | undefined {
  const { data = [], targets = [] } = spec.imports ?? {};
  const count = data.length + targets.length;
  if (count > MAX_IMPORTS) {
    return `the installation has ${count} imports; the limit is ${MAX_IMPORTS} for one installation: ${divide}`;
  }
  let elements = 0;
  for (const { targets: list, targetMap } of targets) {
    elements += list?.length ?? Object.keys(targetMap ?? {}).length;
  }
  if (elements <= MAX_IMPORTED_TARGETS) return undefined;
  return (
    `the target lists and maps of the installation name ${elements} targets; ` +
    `the limit is ${MAX_IMPORTED_TARGETS} for one installation: ${divide}`
  );
}

/** The values that one installation imports, as far as they have been found. */
export class ImportBudget {
  #bytes = 0;

  /** @param bytes of a value as JSON. @returns the sentence, when there is no room for it */
  take(bytes: number): string | undefined {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_IMPORT_BYTES) return undefined;
    return `the imports of the installation have more than ${MAX_IMPORT_MIB} MiB as JSON, the limit for one installation: ${divide}`;
  }
}
