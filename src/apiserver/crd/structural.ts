/**
 * The rules of structural schemas: the type of every value is known independently of conditions (`allOf` and the
 * like), so that pruning and defaulting do not depend on them.
 */
import { equal } from '../../lib/json.ts';
import { append } from '../../lib/lists.ts';
import { forbidden, invalid, required } from '../schema/field-errors.ts';
import type { JsonSchema } from '../schema/types.ts';
import type { FieldError } from '../types.ts';

type Level = 'root' | 'item' | 'field';

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** Why a schema is not structural. */
export function structuralErrors(schema: JsonSchema, path: string): FieldError[] {
  return [...invariantErrors(schema, 'root', path), ...completenessErrors(schema, path)].sort((a, b) =>
    a.field < b.field ? -1 : 1,
  );
}

function invariantErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const extra = schema.additionalProperties;
  if (schema.type === 'array' && !schema.items) errors.push(required(`${path}.items`, 'must be specified'));
  if (schema.items) append(errors, invariantErrors(schema.items, 'item', `${path}.items`));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = `${path}.properties[${name}]`;
    // the metadata of the root only has restrictions
    append(errors, invariantErrors(property, 'field', at));
  }
  if (extra !== undefined && extra !== false) {
    if (level === 'root')
      errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
    if (typeof extra === 'object')
      append(errors, invariantErrors(extra, 'field', `${path}.additionalProperties`));
  }
  append(errors, extensionErrors(schema, path));
  append(errors, typeErrors(schema, level, path));
  append(errors, conditionErrors(schema, path));
  append(errors, metaErrors(schema, level, path));
  return errors;
}

function extensionErrors(schema: JsonSchema, path: string): FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return [];
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((member) => schema[member] === true)
    .map((member) =>
      invalid(`${path}.${member}`, true, 'must be false if x-kubernetes-int-or-string is true'),
    );
}

function typeErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const type = schema.type ?? '';
  const at = `${path}.type`;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (isEmbedded && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === '' ? required(at, why) : invalid(at, type, why)];
  }
  const isFree =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (type === '' && !isFree) return [required(at, MISSING_TYPE[level])];
  if (level === 'root' && type !== '' && type !== 'object')
    return [invalid(at, type, 'must be object at the root')];
  return [];
}

function metaErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (isEmbedded && schema.additionalProperties !== undefined)
    errors.push(
      forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  if (isEmbedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && !schema.properties) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, why));
  }
  if (level !== 'root' && !isEmbedded) return errors;
  for (const name of ['kind', 'apiVersion']) {
    const property = schema.properties?.[name];
    if (property && property.type !== 'string')
      errors.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'));
  }
  const metadata = schema.properties?.['metadata'];
  if (!metadata) return errors;
  const at = `${path}.properties[metadata]`;
  if (metadata.type !== 'object') errors.push(invalid(`${at}.type`, metadata.type ?? '', 'must be object'));
  if (level === 'root' && !isRestriction(metadata)) {
    const why =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at, why));
  }
  return errors;
}

/** Whether a schema of metadata restricts only the name. */
const isRestriction = (metadata: JsonSchema): boolean =>
  Object.keys(metadata).every((member) => ['type', 'properties', 'default'].includes(member)) &&
  Object.keys(metadata.properties ?? {}).every((name) => name === 'name' || name === 'generateName');

/** Conditions must not define structure. */
function conditionErrors(schema: JsonSchema, path: string): FieldError[] {
  const mayHaveTypes = schema['x-kubernetes-int-or-string'] === true;
  const isPattern = (parts: readonly JsonSchema[] | undefined): boolean =>
    mayHaveTypes && parts?.length === 2 && equal(parts, INT_OR_STRING);
  const errors: FieldError[] = [];
  if (!isPattern(schema.anyOf))
    schema.anyOf?.forEach((part, i) => append(errors, nestedErrors(part, `${path}.anyOf[${i}]`)));
  schema.allOf?.forEach((part, i) => {
    const { anyOf, ...rest } = part;
    append(errors, nestedErrors(i === 0 && isPattern(anyOf) ? rest : part, `${path}.allOf[${i}]`));
  });
  schema.oneOf?.forEach((part, i) => append(errors, nestedErrors(part, `${path}.oneOf[${i}]`)));
  if (schema.not) append(errors, nestedErrors(schema.not, `${path}.not`));
  return errors;
}

/** Keywords that are forbidden in conditions, with upstream's messages. */
const FORBIDDEN_IN_CONDITIONS = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
] as const;

function nestedErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors = conditionErrors(schema, path);
  if (schema.items) append(errors, nestedErrors(schema.items, `${path}.items`));
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    append(errors, nestedErrors(property, `${path}.properties[${name}]`));
  for (const [member, why] of FORBIDDEN_IN_CONDITIONS) {
    const value = schema[member];
    if (value !== undefined && value !== false && value !== '')
      errors.push(forbidden(`${path}.${member}`, why));
  }
  if (schema.properties?.['metadata'])
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  return errors;
}

/** A field in a condition at the root must also be defined outside of it; upstream checks only the root. */
const completenessErrors = (schema: JsonSchema, path: string): FieldError[] =>
  conditionsOf(schema, path).flatMap(([part, at]) => mentionErrors(part, at, schema, path));

const conditionsOf = (schema: JsonSchema, path: string): [JsonSchema, string][] => [
  ...(['anyOf', 'allOf', 'oneOf'] as const).flatMap((junctor) =>
    (schema[junctor] ?? []).map((part, i): [JsonSchema, string] => [part, `${path}.${junctor}[${i}]`]),
  ),
  ...(schema.not ? [[schema.not, `${path}.not`] as [JsonSchema, string]] : []),
];

/**
 * @param at path of the condition
 * @param path path of the structure that the condition refers to
 */
function mentionErrors(part: JsonSchema, at: string, structure: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const below = (next: JsonSchema, step: string, found: JsonSchema | undefined): void => {
    if (found) append(errors, mentionErrors(next, at + step, found, path + step));
    else errors.push(required(path + step, `because it is defined in ${at}${step}`));
  };
  for (const [name, property] of Object.entries(part.properties ?? {}))
    below(property, `.properties[${name}]`, structure.properties?.[name]);
  if (part.items) below(part.items, '.items', structure.items);
  for (const [nested, place] of conditionsOf(part, at))
    append(errors, mentionErrors(nested, place, structure, path));
  return errors;
}
