/** The paths of an OpenAPI document: operations and parameters of a kind. */
import { REF, type GroupVersionKind } from '../kinds/schemas.ts';
import type { OpenApiKind } from './openapi.ts';
import type { JsonObject } from '../types.ts';

/** The schema names of a kind and its list. */
export interface Described {
  readonly schema: string;
  readonly list: string;
  readonly gvk: GroupVersionKind;
}

const META = `${REF}io.k8s.apimachinery.pkg.apis.meta.v1`;

interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: true;
  readonly schema: { readonly type: string; readonly uniqueItems: true };
}

const query = (name: string, type = 'string'): Parameter => ({
  name,
  in: 'query',
  schema: { type, uniqueItems: true },
});

const inPath = (name: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', uniqueItems: true },
});

const WRITE = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
const PATCH = [...WRITE, query('force', 'boolean')];
const DELETE = [
  query('dryRun'),
  query('gracePeriodSeconds', 'integer'),
  query('orphanDependents', 'boolean'),
  query('propagationPolicy'),
];
const LIST = [
  query('allowWatchBookmarks', 'boolean'),
  query('continue'),
  query('fieldSelector'),
  query('labelSelector'),
  query('limit', 'integer'),
  query('resourceVersion'),
  query('resourceVersionMatch'),
  query('sendInitialEvents', 'boolean'),
  query('timeoutSeconds', 'integer'),
  query('watch', 'boolean'),
];

const body = (types: readonly string[], ref: string): JsonObject => ({
  content: Object.fromEntries(types.map((type) => [type, { schema: { $ref: ref } }])),
});

const ANSWERS = ['application/json', 'application/yaml'];
const PATCHES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
];

/** All operations of a kind, keyed by path. */
export function operationsOf(kind: OpenApiKind, described: Described): JsonObject {
  const root = `/${kind.group === '' ? 'api' : `apis/${kind.group}`}/${kind.version}`;
  const collection = kind.namespaced
    ? `${root}/namespaces/{namespace}/${kind.plural}`
    : `${root}/${kind.plural}`;
  const place = kind.namespaced ? [inPath('namespace')] : [];
  const maker = new Maker(kind, described);
  const paths: JsonObject = {
    [collection]: { ...maker.collection(), parameters: [...place, query('pretty')] },
  };
  if (kind.namespaced && kind.virtual !== true) {
    paths[`${root}/${kind.plural}`] = { get: maker.operation('list', LIST, described.list) };
  }
  if (kind.virtual === true) return paths;
  const item = [inPath('name'), ...place, query('pretty')];
  paths[`${collection}/{name}`] = { ...maker.item(), parameters: item };
  for (const name of kind.subresources.filter((sub) => sub === 'status' || sub === 'scale')) {
    paths[`${collection}/{name}/${name}`] = { ...maker.subresource(), parameters: item };
  }
  return paths;
}

class Maker {
  readonly #kind: OpenApiKind;
  readonly #described: Described;

  constructor(kind: OpenApiKind, described: Described) {
    this.#kind = kind;
    this.#described = described;
  }

  operation(
    action: string,
    parameters: readonly Parameter[],
    answer: string,
    request?: JsonObject,
  ): JsonObject {
    const { gvk } = this.#described;
    return {
      operationId: `${action}${gvk.group}${gvk.version}${gvk.kind}`,
      parameters,
      ...(request ? { requestBody: request } : {}),
      responses: {
        200: { description: 'OK', ...body(ANSWERS, REF + answer) },
        401: { description: 'Unauthorized' },
      },
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': gvk,
    };
  }

  collection(): JsonObject {
    const { schema, list } = this.#described;
    const { verbs } = this.#kind;
    const status = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
    return {
      ...(verbs.includes('list') ? { get: this.operation('list', LIST, list) } : {}),
      ...(verbs.includes('create')
        ? { post: this.operation('post', WRITE, schema, body(['*/*'], REF + schema)) }
        : {}),
      ...(verbs.includes('deletecollection')
        ? { delete: this.operation('deletecollection', [...DELETE, ...LIST], status, this.#deleteBody()) }
        : {}),
    };
  }

  item(): JsonObject {
    const status = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
    return { ...this.#readAndWrite(), delete: this.operation('delete', DELETE, status, this.#deleteBody()) };
  }

  subresource(): JsonObject {
    return this.#readAndWrite();
  }

  #deleteBody(): JsonObject {
    return body(['*/*'], `${META}.DeleteOptions`);
  }

  #readAndWrite(): JsonObject {
    const { schema } = this.#described;
    const types = this.#kind.builtIn ? [...PATCHES, 'application/strategic-merge-patch+json'] : PATCHES;
    return {
      get: this.operation('get', [], schema),
      put: this.operation('put', WRITE, schema, body(['*/*'], REF + schema)),
      patch: this.operation('patch', PATCH, schema, body(types, `${META}.Patch`)),
    };
  }
}
