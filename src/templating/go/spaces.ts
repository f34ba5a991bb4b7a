/** White space as Go's `unicode.IsSpace` defines it: with U+0085, which JavaScript omits, and without U+FEFF. */

export const isSpace = (c: string): boolean =>
  /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(c);

/** Go's `strings.TrimSpace`. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charAt(start))) start++;
  while (end > start && isSpace(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
