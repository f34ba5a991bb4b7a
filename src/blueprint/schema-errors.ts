/** Describes validation errors with upstream's messages: the path and the expectation, never the value itself. */
import type { ErrorObject } from 'ajv';
import { goJson } from '../lib/gojson.ts';
import { isObject } from '../lib/objects.ts';

/** One failure as `<field>: <text>`, several as `[m1, m2]`. */
export function describeErrors(errors: readonly ErrorObject[]): string {
  const messages = [...new Set(relevant(errors).map((error) => `${fieldOf(error)}: ${textOf(error)}`))];
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
}

const WHOLES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames', 'if']);
const isWhole = ({ keyword }: ErrorObject): boolean => WHOLES.has(keyword);

/**
 * If all alternatives failed, only the closest is described: the one with the fewest failures. A failure of the whole
 * value comes before those of its parts.
 */
function relevant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let rest = [...errors];
  for (const whole of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const branches = new Map<string, ErrorObject[]>();
    for (const error of errors) {
      const branch = branchOf(error, whole);
      if (branch !== undefined) branches.set(branch, [...(branches.get(branch) ?? []), error]);
    }
    const closest = [...branches.values()].sort((a, b) => a.length - b.length)[0] ?? [];
    rest = rest.filter((error) => branchOf(error, whole) === undefined || closest.includes(error));
  }
  return [...rest.filter(isWhole), ...rest.filter((error) => !isWhole(error))];
}

function branchOf(error: ErrorObject, whole: ErrorObject): string | undefined {
  const prefix = `${whole.schemaPath}/`;
  if (!error.schemaPath.startsWith(prefix) || !error.instancePath.startsWith(whole.instancePath))
    return undefined;
  return error.schemaPath.slice(prefix.length).split('/')[0];
}

function fieldOf({ instancePath }: ErrorObject): string {
  const parts = instancePath.split('/').slice(1);
  if (parts.length === 0) return '(root)';
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

const jsonType = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
};

const listed = (types: unknown): string => (Array.isArray(types) ? `[${types.join(',')}]` : String(types));

const additional = {
  additionalProperties: 'additionalProperty',
  unevaluatedProperties: 'unevaluatedProperty',
} as const;

function textOf(error: ErrorObject): string {
  const params = error.params as Readonly<Record<string, unknown>>;
  const limit = String(params['limit']);
  switch (error.keyword) {
    case 'type':
      return `Invalid type. Expected: ${listed(params['type'])}, given: ${jsonType(error.data)}`;
    case 'required':
      return `${String(params['missingProperty'])} is required`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `Additional property ${String(params[additional[error.keyword]])} is not allowed`;
    case 'enum': {
      const allowed = params['allowedValues'] as readonly unknown[];
      return `${fieldOf(error)} must be one of the following: ${allowed.map((v) => goJson(v)).join(', ')}`;
    }
    case 'const':
      return `${fieldOf(error)} does not match: ${goJson(params['allowedValue'])}`;
    case 'minLength':
      return `String length must be greater than or equal to ${limit}`;
    case 'maxLength':
      return `String length must be less than or equal to ${limit}`;
    case 'pattern':
      return `Does not match pattern '${String(params['pattern'])}'`;
    case 'format':
      return `Does not match format '${String(params['format'])}'`;
    case 'minimum':
      return `Must be greater than or equal to ${limit}`;
    case 'maximum':
      return `Must be less than or equal to ${limit}`;
    case 'exclusiveMinimum':
      return `Must be greater than ${limit}`;
    case 'exclusiveMaximum':
      return `Must be less than ${limit}`;
    case 'multipleOf':
      return `Must be a multiple of ${String(params['multipleOf'])}`;
    default:
      return structureText(error, params);
  }
}

function structureText(error: ErrorObject, params: Readonly<Record<string, unknown>>): string {
  const limit = String(params['limit']);
  switch (error.keyword) {
    case 'minItems':
      return `Array must have at least ${limit} items`;
    case 'maxItems':
      return `Array must have at most ${limit} items`;
    case 'additionalItems':
    case 'items':
    case 'unevaluatedItems':
      return 'No additional items allowed on array';
    case 'uniqueItems':
      return `array items[${String(params['j'])},${String(params['i'])}] must be unique`;
    case 'contains':
      return 'At least one of the items must match';
    case 'minProperties':
      return `Must have at least ${limit} properties`;
    case 'maxProperties':
      return `Must have at most ${limit} properties`;
    case 'propertyNames':
      return `Property name of "${String(params['propertyName'])}" does not match`;
    case 'dependencies':
    case 'dependentRequired':
      return `Has a dependency on ${String(params['missingProperty'])}`;
    case 'oneOf':
      return 'Must validate one and only one schema (oneOf)';
    case 'anyOf':
      return 'Must validate at least one schema (anyOf)';
    case 'not':
      return 'Must not validate the schema (not)';
    case 'if':
      return params['failingKeyword'] === 'then'
        ? 'Must validate "then" as "if" was valid'
        : 'Must validate "else" as "if" was not valid';
    case 'false schema':
      return 'False always fails validation';
    default:
      return error.message ?? `does not satisfy ${error.keyword}`;
  }
}
