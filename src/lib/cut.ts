/** Shortens texts. */

const MARK = ' … ';

/**
 * A string of at most `max` characters: its beginning and its end, the beginning twice as long. Surrogate pairs stay
 * whole.
 */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const room = Math.max(max - MARK.length, 0);
  const end = Math.floor(room / 3);
  return `${cutEnd(text, room - end)}${MARK}${cutStart(text, end)}`;
}

/** The same, without partial words: for texts that are masked later, because masks replace whole words. */
export function cutBetweenWords(text: string, max: number): string {
  if (text.length <= max) return text;
  const room = Math.max(max - MARK.length, 0);
  const end = Math.floor(room / 3);
  // eslint-disable-next-line no-restricted-syntax -- the callers limit text and words
  return `${text.slice(0, room - end).replace(/\S+$/, '')}${MARK}${cutStart(text, end).replace(/^\S+/, '')}`;
}

/** Half of a surrogate pair would be stored as another character. */
export const cutEnd = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, Math.max(max, 0)).replace(/[\uD800-\uDBFF]$/, '');

/** The last characters of a string. */
export const cutStart = (text: string, max: number): string =>
  max <= 0 ? '' : text.slice(-max).replace(/^[\uDC00-\uDFFF]/, '');
