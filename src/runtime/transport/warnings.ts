/** Warnings of an API server: the header `Warning: 299 - "text"`, which may contain several, separated by commas. */

/** Warnings about names that are part of the API, so neither users nor operators can do anything about them. */
const INEVITABLE = 'metadata.finalizers: "finalizer.landscaper.gardener.cloud": prefer a domain-qualified';

export const isInevitable = (warning: string): boolean => warning.startsWith(INEVITABLE);

/** @returns the texts, without their escapes; the whole header if it has another form */
export function warningsIn(header: string): readonly string[] {
  const found = [...header.matchAll(/(?:^|,)\s*\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)];
  if (found.length === 0) return [header];
  return found.map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}
