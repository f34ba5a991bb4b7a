/** Validation of the schema of a CRD: it must be structural, and its defaults must be valid. */
import { equal } from '../../lib/json.ts';
import { append } from '../../lib/lists.ts';
import { forbidden, invalid, notSupported, required } from '../schema/field-errors.ts';
import { compileSchema } from '../schema/schema.ts';
import { patternProblem } from '../schema/formats.ts';
import type { JsonSchema } from '../schema/types.ts';
import { structuralErrors } from './structural.ts';
import { isObject, type FieldError } from '../types.ts';

/** Members of the root that are allowed with a `status` subresource. */
const ALLOWED_AT_ROOT = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
];

/** All errors in a schema. @param path of the schema in the CRD */
export function schemaErrors(schema: JsonSchema, path: string, hasStatus: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus) append(errors, rootErrors(schema, path));
  if (schema.nullable === true)
    errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const structural = structuralErrors(schema, path);
  append(errors, structural);
  if (structural.length === 0) append(errors, defaultErrors(schema, path, true));
  append(errors, openApiErrors(schema, path, { isRoot: true, noDefaults: undefined, isInMeta: false }));
  return errors;
}

function rootErrors(schema: JsonSchema, path: string): FieldError[] {
  const alien = Object.keys(schema).find((member) => {
    const name = member.startsWith('x-kubernetes-') ? `X-${member.slice(13)}` : member;
    const upstream = name
      .replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
      .replaceAll('-', '');
    return !ALLOWED_AT_ROOT.includes(upstream);
  });
  if (schema.type !== undefined && schema.type !== 'object') {
    const why =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(`${path}.type`, schema.type, why)];
  }
  if (alien === undefined) return [];
  const list = ALLOWED_AT_ROOT.join(' ');
  const why = `only [${list}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, schema, why)];
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];
const META = ['metadata', 'kind', 'apiVersion'];

interface Place {
  readonly isRoot: boolean;
  /** Why defaults are not allowed at this place. */
  readonly noDefaults: string | undefined;
  /** Whether this is in apiVersion, kind or metadata of an object. */
  readonly isInMeta: boolean;
}

function openApiErrors(schema: JsonSchema, path: string, place: Place): FieldError[] {
  const errors = [
    ...ownErrors(schema, path, place),
    ...listErrors(schema, path),
    ...ruleErrors(schema, path),
  ];
  const below = { ...place, isRoot: false };
  const extra = schema.additionalProperties;
  if (extra !== undefined) {
    if (schema.properties && Object.keys(schema.properties).length > 0 && extra !== true)
      errors.push(
        forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
      );
    const inner = place.isInMeta
      ? { ...below, noDefaults: 'inside additionalProperties applying to object metadata' }
      : below;
    if (typeof extra === 'object')
      append(errors, openApiErrors(extra, `${path}.additionalProperties`, inner));
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = (place.isRoot || schema['x-kubernetes-embedded-resource'] === true) && META.includes(name);
    const inner: Place = {
      isRoot: false,
      isInMeta: place.isInMeta || isMeta,
      noDefaults: isMeta && place.isRoot ? `in top-level ${name}` : place.noDefaults,
    };
    append(errors, openApiErrors(property, `${path}.properties[${name}]`, inner));
  }
  if (schema.not) append(errors, openApiErrors(schema.not, `${path}.not`, below));
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    schema[junctor]?.forEach((part, i) =>
      append(errors, openApiErrors(part, `${path}.${junctor}[${i}]`, below)),
    );
  }
  if (schema.items) append(errors, openApiErrors(schema.items, `${path}.items`, below));
  return errors;
}

function ownErrors(schema: JsonSchema, path: string, place: Place): FieldError[] {
  const errors: FieldError[] = [];
  const { type } = schema;
  if (type !== undefined && type !== '' && !TYPES.includes(type))
    errors.push(notSupported(`${path}.type`, type, TYPES));
  if (type === 'null')
    errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (schema.default !== undefined && place.noDefaults !== undefined)
    errors.push(forbidden(`${path}.default`, `must not be set ${place.noDefaults}`));
  for (const member of UNSUPPORTED) {
    if ((schema as Record<string, unknown>)[member] !== undefined)
      errors.push(forbidden(`${path}.${member}`, `${member} is not supported`));
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(`${path}.uniqueItems`, why));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  if (place.isInMeta && schema['x-kubernetes-embedded-resource'] === true)
    errors.push(
      forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'),
    );
  const problem = schema.pattern === undefined ? undefined : patternProblem(schema.pattern);
  if (problem !== undefined) {
    const why = `must be a valid regular expression, but isn't: ${problem}`;
    errors.push(invalid(`${path}.pattern`, schema.pattern, why));
  }
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined) {
    append(errors, typeNeeded(schema, path, 'object', 'x-kubernetes-map-type is specified'));
    if (!['atomic', 'granular'].includes(mapType))
      errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  }
  return errors;
}

function typeNeeded(schema: JsonSchema, path: string, type: string, when: string): FieldError[] {
  if (schema.type === type) return [];
  const why = `must be ${type} if ${when}`;
  return schema.type ? [invalid(`${path}.type`, schema.type, why)] : [required(`${path}.type`, why)];
}

const LIST_TYPES = ['atomic', 'set', 'map'];

function listErrors(schema: JsonSchema, path: string): FieldError[] {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = `${path}.x-kubernetes-list-type`;
  const errors: FieldError[] = [];
  const onlyMap = 'must be map if x-kubernetes-list-map-keys is non-empty';
  if (listType === undefined) return keys.length > 0 ? [required(at, onlyMap)] : [];
  const wrong = typeNeeded(schema, path, 'array', 'x-kubernetes-list-type is specified');
  append(errors, wrong);
  if (!LIST_TYPES.includes(listType)) errors.push(notSupported(at, listType, LIST_TYPES));
  if (keys.length > 0 && listType !== 'map') errors.push(invalid(at, listType, onlyMap));
  const { items } = schema;
  if (listType === 'set' && wrong.length === 0 && items) append(errors, setErrors(items, path));
  if (listType === 'map') append(errors, mapErrors(items, keys, path));
  return errors;
}

function setErrors(items: JsonSchema, path: string): FieldError[] {
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const nested = items['x-kubernetes-list-type'];
  const errors =
    items.nullable === true
      ? [forbidden(`${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is set')]
      : [];
  if (items.type === 'array' && nested !== undefined && nested !== 'atomic')
    errors.push(invalid(`${path}.items.x-kubernetes-list-type`, nested, why));
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    errors.push(invalid(`${path}.items.x-kubernetes-map-type`, null, why));
  return errors;
}

function mapErrors(items: JsonSchema | undefined, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (!items)
    return [...errors, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalid(`${path}.items.type`, items.type ?? '', why)];
  }
  if (items.nullable === true)
    errors.push(forbidden(`${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is map'));
  keys.forEach((key, index) => {
    const property = items.properties?.[key];
    if (!property) errors.push(invalid(at, keys, 'entries must all be names of item properties'));
    else append(errors, keyErrors(items, property, key, path));
    if (keys.indexOf(key) !== index) errors.push(invalid(at, keys, 'must not contain duplicate entries'));
  });
  return errors;
}

function keyErrors(items: JsonSchema, property: JsonSchema, key: string, path: string): FieldError[] {
  const at = `${path}.items.properties[${key}]`;
  const errors: FieldError[] = [];
  if (property.type === 'array' || property.type === 'object') {
    const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${at}.type`, items.type, why));
  }
  const used = 'this property is in x-kubernetes-list-map-keys, so it';
  if (property.default === undefined && items.required?.includes(key) !== true)
    errors.push(required(`${at}.default`, `${used} must have a default or be a required property`));
  if (property.nullable === true) errors.push(forbidden(`${at}.nullable`, `${used} cannot be nullable`));
  return errors;
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

function ruleErrors(schema: JsonSchema, path: string): FieldError[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const errors: FieldError[] = [];
    const text = (member: string): string => (typeof rule[member] === 'string' ? rule[member] : '');
    const [body, message] = [text('rule').trim(), text('message').trim()];
    if (body === '') errors.push(required(`${at}.rule`, 'rule is not specified'));
    else if (text('message') !== '' && message === '')
      errors.push(invalid(`${at}.message`, text('message'), 'must be non-empty if specified'));
    else if (message.includes('\n'))
      errors.push(invalid(`${at}.message`, text('message'), 'must not contain line breaks'));
    else if (body.includes('\n') && message === '')
      errors.push(required(`${at}.message`, 'message must be specified if rule contains line breaks'));
    if (text('reason') !== '' && !REASONS.includes(text('reason')))
      errors.push(notSupported(`${at}.reason`, text('reason'), REASONS));
    return errors;
  });
}

/** Every default must be valid in its schema, and must contain no unknown members. */
function defaultErrors(schema: JsonSchema, path: string, isRoot: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const value = schema.default;
  if (value !== undefined && value !== null) {
    const compiled = compileSchema(schema, { root: false });
    const at = `${path}.default`;
    if (isObject(value) && !equal(compiled.prune(value), value))
      errors.push(invalid(at, value, 'must not have unknown fields'));
    const found = compiled.validate(value);
    append(
      errors,
      found.map((error) => ({ ...error, field: belowDefault(at, error.field) })),
    );
  }
  if (schema.items) append(errors, defaultErrors(schema.items, `${path}.items`, false));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (isRoot && META.includes(name)) continue;
    append(errors, defaultErrors(property, `${path}.properties[${name}]`, false));
  }
  return errors;
}

const belowDefault = (at: string, field: string): string => {
  if (field === '' || field === '<nil>') return at;
  return field.startsWith('[') ? at + field : `${at}.${field}`;
};
