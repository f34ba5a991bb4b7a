/** Warnings of an API server: the header `Warning: 299 - "text"`, which may contain several, separated by commas. */

import { cutMiddle } from '../../lib/cut.ts';

/** Warnings about names that are part of the API, so neither users nor operators can do anything about them. */
const IGNORED = 'metadata.finalizers: "finalizer.landscaper.gardener.cloud": prefer a domain-qualified';

export const isIgnoredWarning = (warning: string): boolean => warning.startsWith(IGNORED);

/** Warnings are logged and remembered, and servers of tenants choose their length. */
const MAX_CHARS = 500;

/** @returns the texts, without their escapes, the middle of long ones cut; the whole header if it has another form */
export function warningsIn(header: string): readonly string[] {
  const found = [...header.matchAll(/(?:^|,)\s*\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)];
  const texts = found.map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
  return (texts.length === 0 ? [header] : texts).map((text) => cutMiddle(text, MAX_CHARS));
}
