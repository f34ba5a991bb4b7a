/** Small questions about texts that several rules ask. */
import { closest } from '../../lib/closest.ts';

/** Whether a name stands in a string as a word of its own; names may have dashes. */
export const mentions = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w-])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`).test(text);

/** As `hintFor` of the library, with quotes around the name: it stands among words of files. */
export function hintFor(name: string, known: readonly string[], otherwise: string): string {
  const meant = closest(name, known);
  return meant === undefined ? otherwise : `did you mean "${meant}"?`;
}
