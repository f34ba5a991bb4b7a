/** Turns our zod schemas into the structural schemas that a CustomResourceDefinition may contain. */
import { z } from 'zod';
import type { Definition, PrinterColumn } from '../src/api/shared.ts';

/** A JSON schema node, as far as zod emits and CRDs understand it. */
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

/** Keywords that are handed over as they are; anything else but the nested schemas is a mistake in src/api. */
const KEPT = new Set(['type', 'format', 'description', 'required', 'enum', 'pattern', 'default', 'nullable']);
/** Emitted by zod without use to us: integer bounds of JavaScript, patterns for the keys of records. */
const DROPPED = new Set(['$schema', 'minimum', 'maximum', 'propertyNames']);

/** Demanded of every object by the API server itself. */
const STANDARD_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** The openAPIV3Schema of a kind: its own fields structural, `metadata` left to the API server. */
function structuralSchema({ schema, description, rules = [] }: Definition): Node {
  const root = structural(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }) as Node);
  for (const { path, rule, message } of rules) {
    const field = nodeAt(root, path);
    const others = (field['x-kubernetes-validations'] ?? []) as object[];
    field['x-kubernetes-validations'] = [...others, { rule, message }];
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
    if (!child) throw new Error(`a rule is about ${path}, but there is no such field`);
    node = child;
  }
  return node;
}

/**
 * The structural form of one node. Objects keep only the fields they name, as in every CRD: zod's
 * `additionalProperties` of open objects goes. What has no type may be anything and is preserved.
 */
export function structural(node: Node): Node {
  const { properties, items, additionalProperties, ...rest } = node;
  const result: Node = {};
  for (const [keyword, value] of Object.entries(rest)) {
    if (KEPT.has(keyword) || keyword.startsWith('x-kubernetes-')) result[keyword] = value;
    else if (!DROPPED.has(keyword)) throw new Error(`keyword ${keyword} has no place in a CRD`);
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

const column = ({ name, type, path }: PrinterColumn): object => ({ jsonPath: path, name, type });

/** The whole CustomResourceDefinition of a kind. */
export function crdOf(definition: Definition) {
  const { kind, singular, shortNames, columns, statusSubresource } = definition;
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
      names: { kind: kind.kind, listKind: `${kind.kind}List`, plural: kind.plural, singular, shortNames },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      versions: [version],
    },
  };
}
