/** CustomResourceDefinitions from zod schemas: the schema is the only source of types and definitions. */
import { z } from 'zod';
import { conversionPath } from './conversion-path.ts';
import { SchemaError, structural, type Node } from './structural.ts';
import { trimmedEnd } from '../trim.ts';

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

/** The schema of a version of a kind, and how the version is shown. */
export interface CrdVersion {
  /** Schema of the objects: an object with `spec` and, if there is one, `status`. */
  readonly schema: z.ZodType;
  readonly columns?: readonly PrinterColumn[];
  /** Rules that a schema cannot express. */
  readonly rules?: readonly SchemaRule[];
  /** Whether the status is a subresource; default: if the schema has a `status`. */
  readonly statusSubresource?: boolean;
  /** Clients get a warning, that of Kubernetes or this one. Default `false`. */
  readonly deprecated?: boolean | string;
}

/** A version in which objects are not stored. */
export interface OtherVersion extends CrdVersion {
  /** Such as `v1alpha1`. */
  readonly version: string;
  /** Default `true`. A version in which objects were stored must stay in the definition until they have been stored in another one. */
  readonly served?: boolean;
}

/** How API servers reach the operator that converts between versions. */
export type ConversionEndpoint =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  | { readonly url: string };

/** A kind and the schemas of its objects. */
export interface CrdOptions extends CrdVersion {
  readonly kind: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly plural: string;
    readonly namespaced: boolean;
  };
  readonly description: string;
  /** Other versions; objects are stored in the version of `kind`. */
  readonly versions?: readonly OtherVersion[];
  /**
   * The operator converts between the versions; it adds its certificate authority when it starts. Default: API servers only
   * change `apiVersion`.
   */
  readonly conversion?: ConversionEndpoint;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Short names for kubectl. */
  readonly shortNames?: readonly string[];
  /** Names for `kubectl get` that several kinds share. */
  readonly categories?: readonly string[];
}

/** A CustomResourceDefinition. */
export interface Crd {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: object;
}

/** The API server itself requires these fields of every object. */
const STANDARD_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** The openAPIV3Schema of a kind; the API server adds the schema of `metadata`. */
function structuralSchema({ schema, rules = [] }: CrdVersion, description: string): Node {
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

function versionOf(name: string, version: CrdVersion, description: string) {
  const { columns = [], deprecated } = version;
  const openAPIV3Schema = structuralSchema(version, description);
  const { statusSubresource = openAPIV3Schema.properties?.['status'] !== undefined } = version;
  return {
    name,
    ...(deprecated && { deprecated: true }),
    ...(typeof deprecated === 'string' && { deprecationWarning: deprecated }),
    ...(columns.length > 0 && { additionalPrinterColumns: columns.map(column) }),
    schema: { openAPIV3Schema },
    ...(statusSubresource && { subresources: { status: {} } }),
  };
}

function webhookAt(endpoint: ConversionEndpoint, path: string): object {
  const address =
    'url' in endpoint
      ? { url: `${trimmedEnd(endpoint.url, '/')}${path}` }
      : { service: { port: 443, ...endpoint.service, path } };
  return { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: address } };
}

/**
 * The CustomResourceDefinition of a kind. Its objects are stored in the version of the kind.
 * @throws SchemaError if a schema uses features that a CRD cannot express, a rule refers to a missing field, or a version
 *   exists more than once
 */
export function crdOf(options: CrdOptions): Crd {
  const { kind, singular = kind.kind.toLowerCase(), shortNames, categories, description } = options;
  const { versions = [], conversion } = options;
  const names = [kind.version, ...versions.map(({ version }) => version)];
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new SchemaError(`${kind.kind} has version ${twice} more than once`);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      ...(conversion && { conversion: webhookAt(conversion, conversionPath(kind)) }),
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
      versions: [
        { ...versionOf(kind.version, options, description), served: true, storage: true },
        ...versions.map((other) => ({
          ...versionOf(other.version, other, description),
          served: other.served ?? true,
          storage: false,
        })),
      ],
    },
  };
}
