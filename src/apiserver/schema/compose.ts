/** Compositions of schemas: allOf, anyOf, oneOf and not. */
import { append } from '../../lib/lists.ts';
import { goQuote, invalid } from './field-errors.ts';
import type { JsonSchema } from './types.ts';
import type { FieldError } from '../types.ts';

/** The errors, and the number of successful checks, which selects the best alternative of a `oneOf`. */
export interface Findings {
  readonly errors: FieldError[];
  matches: number;
}

export type Validator = (value: unknown, path: string, old: unknown, out: Findings) => void;

/** The path of composition errors, which refer to no field. */
export const NO_PATH = '<nil>';

/** The validator for the compositions of a schema, or undefined if there are none. */
export function compileComposition(
  schema: JsonSchema,
  compile: (part: JsonSchema) => Validator,
): Validator | undefined {
  const parts = [
    schema.anyOf ? anyOf(schema.anyOf.map(compile)) : undefined,
    schema.oneOf ? oneOf(schema.oneOf.map(compile)) : undefined,
    schema.allOf ? allOf(schema.allOf.map(compile)) : undefined,
    schema.not ? not(compile(schema.not)) : undefined,
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  return (value, path, old, out) => {
    for (const part of parts) part(value, path, old, out);
    out.matches++;
  };
}

/** The errors of one alternative, collected separately. */
function attempt(validator: Validator, value: unknown, path: string, old: unknown): Findings {
  const out: Findings = { errors: [], matches: 0 };
  validator(value, path, old, out);
  return out;
}

const isGood = (findings: Findings): boolean => findings.errors.length === 0;

function merge(out: Findings, more: Findings | undefined): void {
  if (!more) return;
  append(out.errors, more.errors);
  out.matches += more.matches;
}

const best = (attempts: readonly Findings[]): Findings | undefined =>
  attempts.reduce<Findings | undefined>(
    (top, next) => (top && top.matches >= next.matches ? top : next),
    undefined,
  );

/** A composition error; it refers to no field. */
const composite = (path: string, why: string): FieldError =>
  invalid(NO_PATH, '', `${goQuote(path)} must ${why}`);

const anyOf =
  (alternatives: readonly Validator[]): Validator =>
  (value, path, old, out) => {
    const attempts = alternatives.map((alternative) => attempt(alternative, value, path, old));
    const good = attempts.find(isGood);
    if (!good) out.errors.push(composite(path, 'validate at least one schema (anyOf)'));
    merge(out, good ?? best(attempts));
  };

const oneOf =
  (alternatives: readonly Validator[]): Validator =>
  (value, path, old, out) => {
    const attempts = alternatives.map((alternative) => attempt(alternative, value, path, old));
    const good = attempts.filter(isGood);
    if (good.length === 1) {
      merge(out, good[0]);
      return;
    }
    const found = good.length === 0 ? 'Found none valid' : `Found ${good.length} valid alternatives`;
    out.errors.push(composite(path, `validate one and only one schema (oneOf). ${found}`));
    if (good.length === 0) merge(out, best(attempts));
  };

const allOf =
  (parts: readonly Validator[]): Validator =>
  (value, path, old, out) => {
    const attempts = parts.map((part) => attempt(part, value, path, old));
    attempts.forEach((findings) => merge(out, findings));
    const good = attempts.filter(isGood).length;
    if (good === parts.length) return;
    out.errors.push(
      composite(path, `validate all the schemas (allOf)${good === 0 ? '. None validated' : ''}`),
    );
  };

const not =
  (validator: Validator): Validator =>
  (value, path, old, out) => {
    if (isGood(attempt(validator, value, path, old)))
      out.errors.push(composite(path, 'not validate the schema (not)'));
  };
