/** Converts JSON schemas, as zod emits them, to the structural schemas of CustomResourceDefinitions. Pure. */
import { table } from '../objects.ts';

/** A JSON schema node with the keywords that zod emits and CRDs accept. */
export interface Node {
  type?: string;
  format?: string;
  description?: string;
  properties?: Record<string, Node>;
  required?: string[];
  items?: Node;
  additionalProperties?: Node | boolean;
  [keyword: string]: unknown;
}

/** A schema cannot be expressed in a CustomResourceDefinition. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const INT_OR_STRING = 'x-kubernetes-int-or-string';

/** Keywords that are copied. */
const KEPT = new Set([
  'type',
  'format',
  'title',
  'description',
  'required',
  'enum',
  'pattern',
  'default',
  'nullable',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
]);
/** Keywords of zod that say nothing to the API server; `definitions` are the targets of `$ref`, which is refused. */
const DROPPED = new Set(['$schema', 'propertyNames', 'definitions']);

/** Advice for keywords that structural schemas do not allow. */
const ADVICE: Readonly<Record<string, string>> = table({
  anyOf: `a field has one type; use separate fields, or .meta({ '${INT_OR_STRING}': true })`,
  oneOf: 'a field has one type; use separate optional fields and a rule that exactly one is set',
  allOf: 'merge the schemas with .extend()',
  $ref: `a schema cannot contain itself; use z.unknown() or .meta({ '${PRESERVE}': true })`,
  uniqueItems: "use .meta({ 'x-kubernetes-list-type': 'set' })",
});

/**
 * The structural form of one node. `additionalProperties` of open objects is removed, as in all CRDs: objects keep
 * only the fields that they name. A node without a type preserves unknown fields.
 * @param path of the node, for messages
 * @throws SchemaError naming the field and the keyword
 */
export function structural(node: Node, path = ''): Node {
  const { properties, items, additionalProperties, ...rest } = node;
  const result = keywords(node, rest, path);
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if (properties) {
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([name, child]) => [name, structural(child, at(name))]),
    );
  } else if (items) {
    result.items = structural(items, `${path}[]`);
  } else if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
    result.additionalProperties = structural(additionalProperties, at('*'));
  } else if (
    result[INT_OR_STRING] !== true &&
    (node.type === undefined || additionalProperties !== undefined)
  ) {
    result[PRESERVE] = true;
  }
  return result;
}

function keywords(node: Node, rest: Node, path: string): Node {
  const result: Node = {};
  for (const [keyword, value] of Object.entries(rest)) {
    if (DROPPED.has(keyword) || isBoundOfJavaScript(keyword, value)) continue;
    if (keyword === 'anyOf' && node[INT_OR_STRING] === true) continue;
    if (!KEPT.has(keyword) && !keyword.startsWith('x-kubernetes-')) {
      const advice = ADVICE[keyword] ?? 'CustomResourceDefinitions do not have this keyword';
      throw new SchemaError(`${path || 'the schema'}: keyword ${keyword} is not allowed in a CRD: ${advice}`);
    }
    result[keyword] = value;
  }
  return result;
}

/** The range of integers in JavaScript, which zod adds to every integer. */
const isBoundOfJavaScript = (keyword: string, value: unknown): boolean =>
  (keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
  (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER);
