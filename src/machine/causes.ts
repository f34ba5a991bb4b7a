/** What went wrong below, as one text for a status. Pure. */

const MAX_CAUSES = 10;
const MAX_LENGTH = 1024;

/** The first of them, each up to a length, and how many more there are. */
export function causesText(causes: readonly string[]): string {
  const more = causes.length - MAX_CAUSES;
  const told = causes.slice(0, MAX_CAUSES).map(shortened).join('; ');
  return more > 0 ? `${told}; and ${more} more` : told;
}

/** Half a character is stored as another one, and would look new each time. */
const shortened = (text: string): string => text.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
