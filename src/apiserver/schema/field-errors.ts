/** Validation errors with upstream's messages: `Invalid value: "a": must be …`. */
import type { FieldError } from '../types.ts';

export type { FieldError } from '../types.ts';

/**
 * A string in the format of Go's `%q`; for strings without control characters it is the same as JSON.
 * @see https://pkg.go.dev/strconv#Quote
 */
export function goQuote(text: string): string {
  return JSON.stringify(text).replace(
    /\\u00([0-9a-f]{2})|\u007f|\\b|\\f/g,
    (found, hex: string | undefined) => {
      if (hex === '07') return '\\a';
      if (hex === '0b') return '\\v';
      if (found === '\\b' || found === '\\f') return found;
      return hex === undefined ? '\\x7f' : `\\x${hex}`;
    },
  );
}

/** A value as plain text: strings and numbers as they are, other values as JSON, nothing as an empty string. */
export const plainText = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** A value in the format after `Invalid value: `. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  return JSON.stringify(sorted(value));
}

/** A number in the format of Go's `%v` for float64. */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const text = Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** A value whose members are printed in their order, like those of a Go struct. */
export class Verbatim {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  toJSON(): unknown {
    return this.#value;
  }
}

/** Go prints the members of a map in alphabetical order. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Verbatim) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const source = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(source)
      .sort()
      .map((key) => [key, sorted(source[key])]),
  );
}

const after = (head: string, detail: string): string => (detail === '' ? head : `${head}: ${detail}`);

export const required = (field: string, detail = ''): FieldError => ({
  field,
  type: 'FieldValueRequired',
  message: after('Required value', detail),
});

export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  type: 'FieldValueInvalid',
  message: after(`Invalid value: ${printValue(value)}`, detail),
});

export const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  type: 'FieldValueTypeInvalid',
  message: after(`Invalid value: ${printValue(value)}`, detail),
});

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  field,
  type: 'FieldValueNotSupported',
  message: after(
    `Unsupported value: ${printValue(value)}`,
    supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`,
  ),
});

export const forbidden = (field: string, detail: string): FieldError => ({
  field,
  type: 'FieldValueForbidden',
  message: after('Forbidden', detail),
});

export const duplicate = (field: string, value: unknown): FieldError => ({
  field,
  type: 'FieldValueDuplicate',
  message: `Duplicate value: ${printValue(value)}`,
});

export const notFound = (field: string, value: unknown): FieldError => ({
  field,
  type: 'FieldValueNotFound',
  message: `Not found: ${printValue(value)}`,
});

export const tooLong = (field: string, maxBytes: number): FieldError => ({
  field,
  type: 'FieldValueTooLong',
  message: maxBytes < 0 ? 'Too long: value is too long' : `Too long: may not be more than ${maxBytes} bytes`,
});

export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  field,
  type: 'FieldValueTooMany',
  message:
    max < 0
      ? `Too many: ${actual}: has too many items`
      : `Too many: ${actual}: must have at most ${items(max)}`,
});

const items = (count: number): string => (count === 1 ? '1 item' : `${count} items`);

/**
 * Several errors as one message, in the format of Go's aggregate: without duplicates, and a single error without
 * brackets.
 */
export function joinErrors(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}
