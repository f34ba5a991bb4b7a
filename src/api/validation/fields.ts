/** What is wrong with fields of an object, worded as Kubernetes words it: `spec.type: Required value: …`. */
import { cutMiddle } from '../../lib/cut.ts';
import { findingsText, MAX_FINDINGS } from '../../lib/findings.ts';
import { isPathSegment } from '../../lib/names.ts';

/** One finding: the path of a field, what kind of mistake it is, and the sentence. */
export type FieldError = string;

export const required = (path: string, why: string): FieldError => `${path}: Required value: ${why}`;

/** Longer than any name; a text of a megabyte in each of thousands of findings fills the memory. */
const MAX_SHOWN = 500;

export const shown = (text: string): string => cutMiddle(text, MAX_SHOWN);

/** A text is repeated, so that it can be found; structures are not: they may be long, or hold credentials. */
export const invalid = (path: string, text: string, why: string): FieldError =>
  `${path}: Invalid value: ${JSON.stringify(shown(text))}: ${why}`;

export const invalidStructure = (path: string, why: string): FieldError => `${path}: Invalid value: ${why}`;

/** Names of other objects; those that are missing are somebody else's finding. */
export const notAName = (path: string, name: string | undefined): readonly FieldError[] =>
  isPathSegment(name ?? '').map((why) =>
    invalid(path, name ?? '', `cannot be the name of an object: it ${why}`),
  );

export const duplicate = (path: string, text: string): FieldError =>
  `${path}: Duplicate value: ${JSON.stringify(shown(text))}`;

export const forbidden = (path: string, why: string): FieldError => `${path}: Forbidden: ${why}`;

/**
 * Several findings as one sentence: each once, the first ones of many, and a single one without brackets. Undefined when
 * there are none.
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
 * Exactly one of several fields is there. What counts is being there: an empty list is, an empty text is not.
 * @param forms what each form is called in the sentence, and its value
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

/** A repeated name in a list, at its second place; entries without a name are somebody else's finding. */
export const isRepeated = (names: Set<string>, name: string): boolean => {
  const isKnown = names.has(name);
  if (name !== '') names.add(name);
  return isKnown;
};
