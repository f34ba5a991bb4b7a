/** Completes objects without required fields with empty values. Pure. */
import { isObject, table } from '../../lib/objects.ts';

/** A schema of a CustomResourceDefinition, of which these fields are read. */
export interface RequiredFields {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, RequiredFields>>;
  readonly additionalProperties?: RequiredFields | boolean;
  readonly items?: unknown;
}

const EMPTY: Readonly<Record<string, unknown>> = table({
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  array: [],
});

/** The value with all required fields; the same value if it has them. */
export function withRequiredFields(schema: RequiredFields, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!isObject(items)) return value;
    return changed(
      value,
      (value as unknown[]).map((item) => withRequiredFields(items, item)),
    );
  }
  if (!isObject(value)) return value;
  const { properties = {}, required = [], additionalProperties } = schema;
  const other = isObject(additionalProperties) ? (additionalProperties as RequiredFields) : {};
  const entries = Object.entries(value);
  const completed = entries.map(([name, each]) => withRequiredFields(properties[name] ?? other, each));
  const missing = required.filter((name) => value[name] === undefined);
  if (missing.length === 0 && completed.every((each, i) => each === entries[i]?.[1])) return value;
  return Object.fromEntries([
    ...entries.map(([name], i): [string, unknown] => [name, completed[i]]),
    ...missing.map((name): [string, unknown] => [name, emptyValue(properties[name] ?? {})]),
  ]);
}

const changed = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  after.every((each, i) => each === before[i]) ? before : after;

function emptyValue(schema: RequiredFields): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  return schema.type === undefined || schema.type === 'object'
    ? withRequiredFields(schema, {})
    : EMPTY[schema.type];
}
