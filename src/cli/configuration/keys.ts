/** Finds unknown and unused keys in a configuration file. Pure. */
import { misfits, pathText } from '../../api/decode.ts';
import { closest } from '../../lib/closest.ts';
import { configurationSchema } from './schema.ts';

interface KeyNotes {
  /** A message for each unknown key; it is probably a typo. */
  readonly unknown: readonly string[];
  /** A message for each key that upstream uses and Espalier does not. */
  readonly unused: readonly string[];
}

export function checkKeys(document: unknown): KeyNotes {
  const unknown: string[] = [];
  const unused: string[] = [];
  for (const misfit of misfits(configurationSchema, document)) {
    const at = pathText(misfit.path);
    if (misfit.kind === 'unused') unused.push(`${at} has no effect here: ${misfit.why}`);
    if (misfit.kind === 'unknown') {
      const meant = closest(String(misfit.path.at(-1)), misfit.known);
      unknown.push(
        `${at} is unknown and has no effect${meant === undefined ? '' : `; did you mean ${meant}?`}`,
      );
    }
    // Here, unlike in blueprints, capitals matter.
    if (misfit.kind === 'capitals') {
      unknown.push(`${at} is unknown and has no effect; did you mean ${misfit.field}?`);
    }
  }
  return { unknown, unused };
}
