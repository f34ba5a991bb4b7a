/**
 * The parts of a CustomResourceDefinition's schema that the runtime reads and writes, to be combined with your own.
 * The API server drops fields that are missing in the schema, so the runtime would write them again in every
 * reconcile.
 */
import { steps } from './policies.ts';

const text = { type: 'string' } as const;

/** Properties of `spec` that every external resource supports. */
export const externalSpecProperties = {
  managementPolicies: {
    type: 'array',
    description: 'Operations allowed on the external resource. Default: all; empty: none.',
    items: { type: 'string', enum: ['*', ...steps] },
  },
  reclaimPolicy: {
    type: 'string',
    description: 'Whether the external resource is deleted with this object.',
    enum: ['Delete', 'Retain'],
  },
  writeConnectionSecretToRef: {
    type: 'object',
    description: 'Where to publish connection details.',
    required: ['name'],
    properties: { name: text, namespace: text },
  },
} as const;

/** Properties of `status`, which needs the status subresource. */
export const externalStatusProperties = {
  id: text,
  state: text,
  attributes: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  observedGeneration: { type: 'integer', format: 'int64' },
  lastRequest: text,
  conditions: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      type: 'object',
      required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
      properties: {
        type: text,
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        observedGeneration: { type: 'integer', format: 'int64' },
        lastTransitionTime: { type: 'string', format: 'date-time' },
        reason: text,
        message: text,
      },
    },
  },
} as const;

const policy = {
  type: 'object',
  description: 'How the reference is resolved.',
  properties: {
    resolution: {
      type: 'string',
      description: 'Whether the object waits for the referenced one. Default: Required.',
      enum: ['Required', 'Optional'],
    },
    resolve: {
      type: 'string',
      description: 'Whether a field that has a value is resolved again. Default: IfNotPresent.',
      enum: ['IfNotPresent', 'Always'],
    },
  },
} as const;

const reference = { type: 'object', required: ['name'], properties: { name: text, policy } } as const;

const selector = {
  type: 'object',
  properties: {
    matchLabels: { type: 'object', additionalProperties: text },
    matchControllerRef: { type: 'boolean' },
    policy,
  },
} as const;

/** Properties of `spec` for the field of a reference: the field itself, `<field>Ref` and `<field>Selector`. */
export const referenceProperties = (field: string) => ({
  [field]: text,
  [`${field}Ref`]: reference,
  [`${field}Selector`]: selector,
});

/** Properties of `spec` for a list with the values of several objects: the field, `<field>Refs` and `<field>Selector`. */
export const referenceListProperties = (field: string) => ({
  [field]: { type: 'array', items: text },
  [`${field}Refs`]: { type: 'array', items: reference },
  [`${field}Selector`]: selector,
});

interface ObjectSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
}
interface Version {
  readonly schema: { readonly openAPIV3Schema: ObjectSchema };
  readonly subresources?: object;
}

/**
 * Adds `externalSpecProperties`, `externalStatusProperties` and the status subresource to each version of a
 * CustomResourceDefinition, such as that of `crdOf`. Properties that a schema already has stay as they are.
 */
export function withExternalFields<C extends { readonly spec: object }>(crd: C): C {
  const { versions } = crd.spec as { readonly versions: readonly Version[] };
  return { ...crd, spec: { ...crd.spec, versions: versions.map(withFields) } };
}

function withFields(version: Version): Version {
  const { openAPIV3Schema: root } = version.schema;
  const { spec, status } = root.properties ?? {};
  const properties = {
    ...root.properties,
    spec: withProperties(spec, externalSpecProperties),
    status: withProperties(status, externalStatusProperties),
  };
  return {
    ...version,
    schema: { openAPIV3Schema: { ...root, properties } },
    subresources: { status: {}, ...version.subresources },
  };
}

const withProperties = (schema: ObjectSchema | undefined, properties: object): ObjectSchema => ({
  type: 'object',
  ...schema,
  properties: { ...properties, ...schema?.properties },
});
