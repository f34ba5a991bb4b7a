/** Field errors in the format of Kubernetes: `spec.type: Required value: …`. */
import { cutMiddle } from '../../lib/cut.ts';
import { findingsText, MAX_FINDINGS } from '../../lib/findings.ts';
import { isPathSegment } from '../../lib/names.ts';

/** One error: the path of a field, the type of the error, and a sentence. */
export type FieldError = string;

export const required = (path: string, why: string): FieldError => `${path}: Required value: ${why}`;

/** Longer than any valid name. Thousands of errors with values of a megabyte each would fill the memory. */
const MAX_SHOWN = 500;

export const shown = (text: string): string => cutMiddle(text, MAX_SHOWN);

/**
 * Includes the value if it is a string, so that users can find it. Structures are left out: they may be long or
 * contain credentials.
 */
export const invalid = (path: string, text: string, why: string): FieldError =>
  `${path}: Invalid value: ${JSON.stringify(shown(text))}: ${why}`;

export const invalidStructure = (path: string, why: string): FieldError => `${path}: Invalid value: ${why}`;

/** Checks names of other objects. Another rule reports missing names. */
export const invalidNames = (path: string, name: string | undefined): readonly FieldError[] =>
  isPathSegment(name ?? '').map((why) =>
    invalid(path, name ?? '', `cannot be the name of an object: it ${why}`),
  );

export const duplicate = (path: string, text: string): FieldError =>
  `${path}: Duplicate value: ${JSON.stringify(shown(text))}`;

export const forbidden = (path: string, why: string): FieldError => `${path}: Forbidden: ${why}`;

/**
 * Several errors as one sentence, without duplicates and up to a limit; a single error without brackets. undefined
 * if there are none.
 */
export function aggregate(errors: readonly FieldError[]): string | undefined {
  const different = new Set<FieldError>();
  for (const error of errors) if (different.add(error).size > MAX_FINDINGS) break;
  if (different.size === 0) return undefined;
  return findingsText([...different], (listed) =>
    listed.length > 1 ? `[${listed.join(', ')}]` : listed.join(),
  );
}

/**
 * Exactly one of several fields must be set. An empty list counts as set, an empty string does not.
 * @param forms the values, keyed by the names to use in the message
 */
export function exactlyOneOf(path: string, forms: Readonly<Record<string, unknown>>): readonly FieldError[] {
  const names = Object.keys(forms);
  const set = names.filter((name) => isSet(forms[name]));
  const rule = `exactly one of [${names.join(', ')}] must be set`;
  if (set.length === 0) return [required(path, `${rule} (currently set: none)`)];
  if (set.length === 1) return [];
  return [invalidStructure(path, `${rule} (currently set: [${set.join(', ')}])`)];
}

export const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** A repeated name in a list, reported at its second position. Another rule reports missing names. */
export const isRepeated = (names: Set<string>, name: string): boolean => {
  const isKnown = names.has(name);
  if (name !== '') names.add(name);
  return isKnown;
};
