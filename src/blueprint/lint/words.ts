/** Predicates on strings that several rules use. */
import { closest } from '../../lib/closest.ts';

/** Whether a name occurs in a string as a separate word; names may contain dashes. */
export const mentions = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w-])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`).test(text);

/** Like `hintFor` of the library, with the name in quotes, because it is shown between other words of the file. */
export function hintFor(name: string, known: readonly string[], otherwise: string): string {
  const meant = closest(name, known);
  return meant === undefined ? otherwise : `did you mean "${meant}"?`;
}
