/** Shortens texts. */

const MARK = ' … ';

/** A text of at most `max` characters: its beginning and its end, the beginning twice as long. Whole surrogate pairs. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const room = Math.max(max - MARK.length, 0);
  const end = Math.floor(room / 3);
  return `${cutEnd(text, room - end)}${MARK}${cutStart(text, end)}`;
}

/** Half a character is stored as another one. */
export const cutEnd = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, Math.max(max, 0)).replace(/[\uD800-\uDBFF]$/, '');

const cutStart = (text: string, max: number): string =>
  max <= 0 ? '' : text.slice(-max).replace(/^[\uDC00-\uDFFF]/, '');
