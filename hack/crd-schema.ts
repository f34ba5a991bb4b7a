/** Converts our zod schemas to the structural schemas of CustomResourceDefinitions. */
import { z } from 'zod';
import type { Definition, PrinterColumn } from '../src/api/shared.ts';

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

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/** Keywords that are copied; any other keyword, except for nested schemas, is an error in src/api. */
const KEPT = new Set(['type', 'format', 'description', 'required', 'enum', 'pattern', 'default', 'nullable']);
/** Keywords of zod that are dropped: integer bounds of JavaScript, patterns for record keys. */
const DROPPED = new Set(['$schema', 'minimum', 'maximum', 'propertyNames']);

/** The API server itself requires these fields of every object. */
const STANDARD_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** The openAPIV3Schema of a kind; the API server adds the schema of `metadata`. */
function structuralSchema({ schema, description, rules = [] }: Definition): Node {
  const root = structural(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }) as Node);
  for (const { path, rule, message, reason } of rules) {
    const field = nodeAt(root, path);
    const others = (field['x-kubernetes-validations'] ?? []) as object[];
    field['x-kubernetes-validations'] = [...others, { rule, message, ...(reason && { reason }) }];
  }
  const required = root.required?.filter((field) => !STANDARD_FIELDS.has(field)) ?? [];
  const { required: _, ...rest } = root;
  return {
    description,
    ...rest,
    ...(required.length > 0 && { required }),
    properties: { ...root.properties, metadata: { type: 'object' } },
  };
}

function nodeAt(root: Node, path: string): Node {
  let node = root;
  for (const name of path.split('.')) {
    const child = node.properties?.[name];
    if (!child) throw new Error(`a rule refers to the field ${path}, which does not exist`);
    node = child;
  }
  return node;
}

/**
 * The structural form of one node. `additionalProperties` of open objects is removed, as in all CRDs: objects keep
 * only the fields that they name. A node without a type preserves unknown fields.
 */
export function structural(node: Node): Node {
  const { properties, items, additionalProperties, ...rest } = node;
  const result: Node = {};
  for (const [keyword, value] of Object.entries(rest)) {
    if (KEPT.has(keyword) || keyword.startsWith('x-kubernetes-')) result[keyword] = value;
    else if (!DROPPED.has(keyword)) throw new Error(`keyword ${keyword} is not allowed in a CRD`);
  }
  if (properties) {
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([name, child]) => [name, structural(child)]),
    );
  } else if (items) {
    result.items = structural(items);
  } else if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
    result.additionalProperties = structural(additionalProperties);
  } else if (node.type === undefined || additionalProperties !== undefined) {
    result[PRESERVE] = true;
  }
  return result;
}

const column = ({ name, type, path, isWide }: PrinterColumn): object => ({
  jsonPath: path,
  name,
  ...(isWide && { priority: 1 }),
  type,
});

/** The whole CustomResourceDefinition of a kind. */
export function crdOf(definition: Definition) {
  const { kind, singular, shortNames, columns, categories, statusSubresource } = definition;
  const version = {
    name: kind.version,
    served: true,
    storage: true,
    ...(columns.length > 0 && { additionalPrinterColumns: columns.map(column) }),
    schema: { openAPIV3Schema: structuralSchema(definition) },
    ...(statusSubresource && { subresources: { status: {} } }),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      names: {
        ...(categories && { categories }),
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular,
        shortNames,
      },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      versions: [version],
    },
  };
}
