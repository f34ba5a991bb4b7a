/**
 * Limits for the imports of one installation. Everything is counted before it is read or passed to a template. Each
 * import counts separately, even if several reference the same object, because templates hold a copy for each.
 */
import type { Installation } from '../api/kinds/installation.ts';
import type { View } from '../lib/objects.ts';

/** Imports of one installation, and names of targets in its lists and maps. */
const MAX_IMPORTS = 1000;
const MAX_IMPORTED_TARGETS = 10_000;
/** Total size of all imported values, as JSON. */
const MAX_IMPORT_MIB = 16;
export const MAX_IMPORT_BYTES = MAX_IMPORT_MIB << 20;

export const wayOutOfImports = 'divide them among sub-installations';

/** Checks only numbers, so it is fast. @returns a message if there are too many imports */
export function tooManyImports({ spec }: View<Installation>): string | undefined {
  const { data = [], targets = [] } = spec.imports ?? {};
  const count = data.length + targets.length;
  if (count > MAX_IMPORTS) {
    return `the installation has ${count} imports; the limit is ${MAX_IMPORTS} for one installation: ${wayOutOfImports}`;
  }
  let elements = 0;
  for (const { targets: list, targetMap } of targets) {
    elements += list?.length ?? Object.keys(targetMap ?? {}).length;
  }
  if (elements <= MAX_IMPORTED_TARGETS) return undefined;
  return (
    `the target lists and maps of the installation name ${elements} targets; ` +
    `the limit is ${MAX_IMPORTED_TARGETS} for one installation: ${wayOutOfImports}`
  );
}

/** Counts the size of the values that one installation imports. */
export class ImportBudget {
  #bytes = 0;

  /** @param bytes of a value as JSON. @returns a message if the limit is exceeded */
  take(bytes: number): string | undefined {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_IMPORT_BYTES) return undefined;
    return `the imports of the installation have more than ${MAX_IMPORT_MIB} MiB as JSON, the limit for one installation: ${wayOutOfImports}`;
  }
}
