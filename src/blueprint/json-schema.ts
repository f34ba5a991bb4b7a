/**
 * Validates values against the JSON schemas of a blueprint, with upstream's messages, which do not contain the values.
 */
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { goJson } from '../lib/gojson.ts';
import { sha1Hex } from '../lib/hash.ts';
import { ContentNeeded } from '../components/errors.ts';
import { newAjv, type Dialect } from '../templating/ajvs.ts';
import type { Blueprint } from './model.ts';
import type { LoadedBlueprint } from './load.ts';
import { dialectOf, normalSchema } from './schema-dialect.ts';
import { describeErrors } from './schema-errors.ts';
import { expandReferences } from './schema-refs.ts';

export type SchemaVerdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly message: string }
  /** the schema itself is invalid */
  | { readonly kind: 'unusable'; readonly message: string };

/** The parts of a blueprint that schemas may refer to. */
export interface SchemaSources extends Pick<LoadedBlueprint, 'files' | 'component'> {
  readonly info: Pick<Blueprint, 'localTypes'>;
}

const MAX_SCHEMA_LENGTH = 1_000_000;
const MAX_VALIDATORS = 500;

/** An unusable schema is a result, not an exception. @throws ContentNeeded, see components/view.ts, and nothing else */
export function checkSchema(schema: unknown, value: unknown, blueprint: SchemaSources): SchemaVerdict {
  const validate = prepared(schema, blueprint);
  if (typeof validate === 'string') return { kind: 'unusable', message: validate };
  try {
    if (validate(value)) return { kind: 'valid' };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {
      kind: 'unusable',
      message: 'the schema is recursive without end, or the value is nested too deeply',
    };
  }
  return { kind: 'invalid', message: describeErrors(validate.errors as ErrorObject[]) };
}

/** Why a schema cannot be used; undefined if it can. @throws ContentNeeded */
export function schemaProblem(schema: unknown, blueprint: SchemaSources): string | undefined {
  const validate = prepared(schema, blueprint);
  return typeof validate === 'string' ? validate : undefined;
}

/** The validator, or why the schema cannot be used. */
function prepared(schema: unknown, blueprint: SchemaSources): ValidateFunction | string {
  try {
    const expanded = expandReferences(schema, blueprint);
    const dialect = dialectOf(expanded);
    return validatorFor(normalSchema(expanded, dialect), dialect);
  } catch (error) {
    if (error instanceof ContentNeeded) throw error;
    return `validator creation failed: error compiling jsonschema: ${(error as Error).message}`;
  }
}

const validators = new Map<string, ValidateFunction>();

/** Compiling takes milliseconds, so validators are cached by content; the least recently used are dropped. */
function validatorFor(schema: unknown, dialect: Dialect): ValidateFunction {
  const text = goJson(schema);
  if (text.length > MAX_SCHEMA_LENGTH)
    throw new Error(`schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  const key = sha1Hex(`${dialect} ${text}`);
  const known = validators.get(key);
  if (known) validators.delete(key);
  const validate = known ?? compile(schema, ajvs[dialect]);
  validators.set(key, validate);
  if (validators.size > MAX_VALIDATORS) {
    const [oldest] = validators.keys();
    if (oldest !== undefined) validators.delete(oldest);
  }
  return validate;
}

function compile(schema: unknown, ajv: Ajv): ValidateFunction {
  const definition = schema as object | boolean;
  const validate = ajv.compile(definition);
  if (typeof definition === 'object') ajv.removeSchema(definition);
  return validate;
}

const ajvs: Readonly<Record<Dialect, Ajv>> = {
  'draft-07': newAjv('draft-07'),
  '2019-09': newAjv('2019-09'),
  '2020-12': newAjv('2020-12'),
};
