/**
 * Removes characters at the ends of a string. An expression such as `/x+$/` would begin at each x, so a string of a
 * tenant, such as the address in a kubeconfig, could hold the process for minutes.
 */

/** @param characters to remove, in any order */
export function trimmedEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** The same at both ends. */
export function trimmedEnds(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start++;
  return trimmedEnd(text.slice(start), characters);
}

/** `list` for `list[key]`; a name without such an end stays. */
export function withoutIndex(text: string): string {
  if (!text.endsWith(']')) return text;
  const before = text.lastIndexOf(']', text.length - 2);
  const start = text.indexOf('[', before + 1);
  return start < 0 ? text : text.slice(0, start);
}
