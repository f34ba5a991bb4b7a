/**
 * Why an API server refuses a Secret, without what it repeats of the Secret: servers and webhooks put rejected values into their
 * messages. Only fields, reasons and sentences that API servers are known to use are shown.
 */
import { isObject, table } from '../lib/objects.ts';

const REASONS: Readonly<Record<string, string>> = table({
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotFound: 'Not found',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueRequired: 'Required value',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
});

/** A field of a Secret; keys of its data are not secret. */
const FIELD = /^(?:type|immutable|metadata|data|stringData)(?:[.[][-\w.[\]/]*)?$/;
const MAX_FIELD = 256;

/** The ends of messages of API servers that repeat nothing. */
const SENTENCES = [
  /field is immutable(?: when `immutable` is set)?$/,
  /(?:may not be more than|must have at most) \d+ bytes$/,
  /(?:a valid config key|a lowercase RFC 1123 (?:label|subdomain)|a qualified name|a valid label) must (?:be|consist)[^"]*$/,
];
const MAX_CAUSES = 10;

/** `Secret "a" is invalid: type: Invalid value: field is immutable`; undefined if the server names no field. */
export function refusalOfSecret(name: string | undefined, causes: unknown): string | undefined {
  const found = (Array.isArray(causes) ? causes : []).slice(0, MAX_CAUSES).flatMap(shown);
  if (found.length === 0) return undefined;
  const list = found.length === 1 ? (found[0] ?? '') : `[${found.join(', ')}]`;
  return `Secret "${name ?? ''}" is invalid: ${list}`;
}

function shown(cause: unknown): readonly string[] {
  if (!isObject(cause)) return [];
  const { field, reason, message } = cause;
  const why = typeof reason === 'string' ? REASONS[reason] : undefined;
  if (typeof field !== 'string' || field.length > MAX_FIELD || !FIELD.test(field) || !why) return [];
  const detail = typeof message === 'string' ? sentenceIn(message) : undefined;
  return [[field, why, ...(detail === undefined ? [] : [detail])].join(': ')];
}

function sentenceIn(message: string): string | undefined {
  for (const sentence of SENTENCES) {
    const found = sentence.exec(message.slice(-1024));
    if (found) return found[0];
  }
  return undefined;
}

/** What the server found, without what it says about it. */
export const withoutTexts = <C extends { readonly reason?: string; readonly field?: string }>(
  causes: readonly C[],
): Pick<C, 'reason' | 'field'>[] =>
  causes.map(({ reason, field }) => ({ ...(reason && { reason }), ...(field && { field }) }));
