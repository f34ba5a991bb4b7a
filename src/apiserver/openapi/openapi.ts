/** OpenAPI v3 documents, one per group version; kubectl and Helm use them for validation and `explain`. */
import { createHash } from 'node:crypto';
import { append } from '../../lib/lists.ts';
import { operationsOf, type Described } from './paths.ts';
import { kindsData, REF, type NamedSchema } from '../kinds/schemas.ts';
import type { JsonSchema } from '../schema/types.ts';
import { isObject, type JsonObject } from '../types.ts';

/** The facts about a served kind that a document needs. */
export interface OpenApiKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly builtIn: boolean;
  readonly virtual?: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** The `openAPIV3Schema` of a custom kind. */
  readonly openapi?: Readonly<Record<string, unknown>>;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const ALWAYS = [`${META}.Status`, `${META}.DeleteOptions`, `${META}.Patch`];

/** `api/v1` or `apis/apps/v1`: the key of a group version in the index, and the end of its path. */
export const documentKey = (group: string, version: string): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** The hash in a document's URL, so that clients can cache it forever. */
export const documentHash = (text: string): string =>
  createHash('sha512').update(text).digest('hex').toUpperCase();

/** `GET /openapi/v3`. */
export const openApiIndex = (
  entries: readonly { readonly key: string; readonly hash: string }[],
): JsonObject => ({
  paths: Object.fromEntries(
    entries.map(({ key, hash }) => [key, { serverRelativeURL: `/openapi/v3/${key}?hash=${hash}` }]),
  ),
});

/** The document of a group version, for its served kinds. */
export function openApiV3(group: string, version: string, kinds: readonly OpenApiKind[]): JsonObject {
  const schemas: Record<string, unknown> = {};
  const wanted = new Set(ALWAYS);
  const paths: JsonObject = {};
  for (const kind of kinds.filter((served) => served.group === group && served.version === version)) {
    const described = describe(kind);
    if (kind.builtIn) [described.schema, described.list].forEach((name) => wanted.add(name));
    else Object.assign(schemas, customSchemas(kind, described));
    Object.assign(paths, operationsOf(kind, described));
  }
  Object.values(schemas).forEach((schema) => references(schema, wanted));
  references(paths, wanted);
  collect(wanted, schemas);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.34.0' },
    paths,
    components: { schemas: sortedByName(schemas) },
  };
}

function describe(kind: OpenApiKind): Described {
  const { group, version } = kind;
  const known = kind.builtIn ? kindsData().nameOf(group, version, kind.kind) : undefined;
  const base =
    known?.slice(0, -kind.kind.length) ?? `${[...group.split('.')].reverse().join('.')}.${version}.`;
  return {
    schema: known ?? `${base}${kind.kind}`,
    list: kindsData().nameOf(group, version, kind.listKind) ?? `${base}${kind.listKind}`,
    gvk: { group, version, kind: kind.kind },
  };
}

/** Adds the schemas in `wanted`, and those that they reference, to `schemas`. */
function collect(wanted: ReadonlySet<string>, schemas: Record<string, unknown>): void {
  const queue = [...wanted];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const schema: NamedSchema | undefined = kindsData().schemas[name];
    if (schema === undefined || name in schemas) continue;
    schemas[name] = schema;
    append(queue, references(schema));
  }
}

function references(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) value.forEach((item) => references(item, found));
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (key === '$ref' && typeof member === 'string') found.add(member.slice(REF.length));
      else references(member, found);
    }
  }
  return found;
}

const sortedByName = (schemas: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));

const API_VERSION = {
  description: 'The version of the schema that this object is written in.',
  type: 'string',
};
const KIND = { description: 'The kind of this object.', type: 'string' };

/** The published schema of a custom kind: with apiVersion, kind and metadata, and its list. */
function customSchemas(kind: OpenApiKind, described: Described): Record<string, JsonSchema> {
  const gvk = { group: kind.group, version: kind.version };
  const metadata = (name: string, description: string): JsonSchema => ({
    description,
    allOf: [{ $ref: `${REF}${META}.${name}` }],
  });
  const own = published(kind.openapi ?? { type: 'object' });
  const item = {
    ...own,
    type: 'object',
    properties: {
      ...own.properties,
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: metadata('ObjectMeta', 'Name, labels and all else that objects of every kind have.'),
    },
    'x-kubernetes-group-version-kind': [{ ...gvk, kind: kind.kind }],
  };
  const list = {
    description: `${kind.listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: metadata('ListMeta', 'Where in time the list was taken.'),
      items: {
        description: `The objects of the list.`,
        type: 'array',
        items: { $ref: REF + described.schema },
      },
    },
    'x-kubernetes-group-version-kind': [{ ...gvk, kind: kind.listKind }],
  };
  return { [described.schema]: item, [described.list]: list };
}

/** Embedded resources are published with the members that all objects have. */
function published(schema: JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const own = properties
    ? Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, published(property)]))
    : undefined;
  const meta = isEmbedded
    ? {
        apiVersion: API_VERSION,
        kind: KIND,
        metadata: { allOf: [{ $ref: `${REF}${META}.ObjectMeta` }] },
      }
    : undefined;
  return {
    ...schema,
    ...(own || meta ? { properties: { ...own, ...meta } } : {}),
    ...(items ? { items: published(items) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: published(additionalProperties) }
      : {}),
  };
}
