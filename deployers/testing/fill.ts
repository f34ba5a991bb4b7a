/** Replaces placeholders in the configurations of a subject. Pure. */

/** @param places placeholder → replacement, in strings and keys at any depth */
export function filled(value: unknown, places: Readonly<Record<string, string>>): unknown {
  const name = (text: string): string =>
    Object.entries(places).reduce((before, [place, to]) => before.replaceAll(place, to), text);
  if (typeof value === 'string') return name(value);
  if (Array.isArray(value)) return value.map((entry) => filled(entry, places));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [name(key), filled(entry, places)]));
}
