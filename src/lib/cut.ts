/** Shortens texts. */

const MARK = ' … ';

/** A text of at most `max` characters: its beginning and its end, the beginning twice as long. Whole surrogate pairs. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const room = Math.max(max - MARK.length, 0);
  const end = Math.floor(room / 3);
  return `${cutEnd(text, room - end)}${MARK}${cutStart(text, end)}`;
}

/**
 * The same, without halves of words: for texts that are masked later, by masks that know secrets and their words as a whole.
 */
export function cutBetweenWords(text: string, max: number): string {
  if (text.length <= max) return text;
  const room = Math.max(max - MARK.length, 0);
  const end = Math.floor(room / 3);
  return `${text.slice(0, room - end).replace(/\S+$/, '')}${MARK}${cutStart(text, end).replace(/^\S+/, '')}`;
}

/** Half a character is stored as another one. */
export const cutEnd = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, Math.max(max, 0)).replace(/[\uD800-\uDBFF]$/, '');

const cutStart = (text: string, max: number): string =>
  max <= 0 ? '' : text.slice(-max).replace(/^[\uDC00-\uDFFF]/, '');
