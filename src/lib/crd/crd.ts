/** CustomResourceDefinitions from zod schemas: the schema is the only source of types and definitions. */
import { z } from 'zod';
import { SchemaError, structural, type Node } from './structural.ts';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** JSONPath, such as `.status.phase`. */
  readonly path: string;
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean;
}

/** A CEL validation rule for an object, or for a change of it. */
export interface SchemaRule {
  /** Path of the field from the root, for example `spec.type`. */
  readonly path: string;
  /** Expression that must be true; `self` is the field, `oldSelf` its previous value. */
  readonly rule: string;
  readonly message: string;
  /** Default: FieldValueInvalid. API servers before 1.28 ignore it. */
  readonly reason?:
    'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
}

/** A kind and the schema of its objects. */
export interface CrdOptions {
  readonly kind: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly plural: string;
    readonly namespaced: boolean;
  };
  /** Schema of the objects: an object with `spec` and, if there is one, `status`. */
  readonly schema: z.ZodType;
  readonly description: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Short names for kubectl. */
  readonly shortNames?: readonly string[];
  /** Names for `kubectl get` that several kinds share. */
  readonly categories?: readonly string[];
  readonly columns?: readonly PrinterColumn[];
  /** Rules that a schema cannot express. */
  readonly rules?: readonly SchemaRule[];
  /** Whether the status is a subresource; default: if the schema has a `status`. */
  readonly statusSubresource?: boolean;
}

/** A CustomResourceDefinition with one version. */
export interface Crd {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: object;
}

/** The API server itself requires these fields of every object. */
const STANDARD_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** The openAPIV3Schema of a kind; the API server adds the schema of `metadata`. */
function structuralSchema({ schema, description, rules = [] }: CrdOptions): Node {
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
    if (!child) throw new SchemaError(`a rule refers to the field ${path}, which does not exist`);
    node = child;
  }
  return node;
}

const column = ({ name, type, path, isWide }: PrinterColumn): object => ({
  jsonPath: path,
  name,
  ...(isWide && { priority: 1 }),
  type,
});

/**
 * The CustomResourceDefinition of a kind, with one version that is served and stored.
 * @throws SchemaError if the schema uses features that a CRD cannot express, or a rule refers to a missing field
 */
export function crdOf(options: CrdOptions): Crd {
  const { kind, singular = kind.kind.toLowerCase(), shortNames, columns = [], categories } = options;
  const openAPIV3Schema = structuralSchema(options);
  const { statusSubresource = openAPIV3Schema.properties?.['status'] !== undefined } = options;
  const version = {
    name: kind.version,
    served: true,
    storage: true,
    ...(columns.length > 0 && { additionalPrinterColumns: columns.map(column) }),
    schema: { openAPIV3Schema },
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
        ...(shortNames && { shortNames }),
      },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      versions: [version],
    },
  };
}
