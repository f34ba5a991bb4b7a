/** Discovery documents: the legacy lists and the aggregated one. */
import { table } from '../../lib/objects.ts';
import { createHash } from 'node:crypto';
import type { Answer, Call, World } from '../api.ts';
import type { Kind, Registry } from '../kinds/kinds.ts';
import type { JsonObject } from '../types.ts';

export function discoveryAnswer(world: World, call: Call): Answer | undefined {
  const { registry } = world;
  if (call.info.path === '/' && call.method === 'GET') return indented({ paths: servedPaths(registry) });
  const [root, group, version, ...rest] = call.info.path.split('/').slice(1);
  if (call.method !== 'GET' || rest.length > 0) return undefined;
  if (root === 'api') {
    if (group === undefined || group === '')
      return call.accept.discovery ? aggregated(registry, call, true) : ok(legacyVersions(call));
    return version === undefined && registry.inVersion('', group).length > 0
      ? ok(resourceList(registry, '', group))
      : undefined;
  }
  if (root !== 'apis') return undefined;
  const groups = registry.groups().filter((g) => g.group !== '');
  if (group === undefined || group === '')
    return call.accept.discovery
      ? aggregated(registry, call, false)
      : ok({ kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) });
  const found = groups.find((g) => g.group === group);
  if (!found) return undefined;
  if (version === undefined) return ok({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(found) });
  return found.versions.includes(version) ? ok(resourceList(registry, group, version)) : undefined;
}

/** Some documents are always indented. */
export const indented = (value: JsonObject): Answer => ({
  type: 'bytes',
  code: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value, undefined, 2)),
});

function servedPaths(registry: Registry): string[] {
  const groups = registry.groups().flatMap(({ group, versions }) => {
    if (group === '') return versions.map((version) => `/api/${version}`);
    return [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)];
  });
  const others = [
    '/api',
    '/apis',
    '/apis/',
    '/healthz',
    '/livez',
    '/openapi/v2',
    '/openapi/v3',
    '/readyz',
    '/version',
  ];
  return [...others, '/openapi/v3/', ...groups].sort();
}

const ok = (value: JsonObject): Answer => ({ type: 'document', code: 200, value });

const legacyVersions = (call: Call): JsonObject => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [
    { clientCIDR: '0.0.0.0/0', serverAddress: String(call.headers['host'] ?? '') },
  ],
});

function groupOf({ group, versions }: { group: string; versions: readonly string[] }): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const verbsOf = (kind: Kind): readonly string[] => (kind.builtIn ? kind.verbs : CUSTOM_VERBS);

const names = (kind: Kind): JsonObject => ({
  ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
  ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
});

interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

const SPECIAL: Readonly<Record<string, Omit<Subresource, 'name'>>> = table({
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  binding: { group: '', version: '', kind: 'Binding', verbs: ['create'] },
  finalize: { group: '', version: '', kind: '', verbs: ['update'] },
  log: { group: '', version: '', kind: '', verbs: ['get'] },
  exec: { group: '', version: '', kind: 'PodExecOptions', verbs: ['create', 'get'] },
  attach: { group: '', version: '', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
  portforward: { group: '', version: '', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
});

function subresourcesOf(kind: Kind): Subresource[] {
  // Built-in kinds list subresources by name, custom ones list status first.
  const names = kind.builtIn ? [...kind.subresources].sort() : kind.subresources;
  return names.map((name) => {
    const special = SPECIAL[name];
    return {
      name,
      group: special?.group ?? '',
      version: special?.version ?? '',
      kind: special?.kind || kind.kind,
      verbs: special?.verbs ?? ['get', 'patch', 'update'],
    };
  });
}

function resourceList(registry: Registry, group: string, version: string): JsonObject {
  const resources = registry.inVersion(group, version).flatMap((kind): JsonObject[] => [
    {
      name: kind.plural,
      singularName: kind.singular,
      namespaced: kind.namespaced,
      kind: kind.kind,
      verbs: verbsOf(kind),
      ...names(kind),
      ...(kind.virtual
        ? {}
        : {
            storageVersionHash: storageVersionHash(kind),
          }),
    },
    ...subresourcesOf(kind).map((sub) => ({
      name: `${kind.plural}/${sub.name}`,
      singularName: '',
      namespaced: kind.namespaced,
      ...(sub.group === '' ? {} : { group: sub.group, version: sub.version }),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ]);
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }), // upstream's oldest list has none
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources,
  };
}

/** A hash that changes with the storage version. Same as upstream's, which hashes the names. */
const storageVersionHash = ({ kind, resource, storageVersion }: Kind): string =>
  createHash('sha256')
    .update(`${resource.startsWith('/') ? '/' : ''}${storageVersion}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');

interface Page {
  readonly revision: number;
  readonly body: Buffer;
  readonly etag: string;
}

const pages = new WeakMap<Registry, Map<boolean, Page>>();

function aggregated(registry: Registry, call: Call, isCore: boolean): Answer {
  let mine = pages.get(registry);
  if (!mine) pages.set(registry, (mine = new Map<boolean, Page>()));
  let page = mine.get(isCore);
  if (page?.revision !== registry.revision) {
    const body = Buffer.from(`${JSON.stringify(aggregate(registry, isCore))}\n`);
    page = { revision: registry.revision, body, etag: `"${hash(body).toString('hex').toUpperCase()}"` };
    mine.set(isCore, page);
  }
  const headers = { etag: page.etag, vary: 'Accept', 'cache-control': 'public' };
  if (call.headers['if-none-match'] === page.etag)
    return { type: 'bytes', code: 304, headers, body: Buffer.alloc(0) };
  const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  return { type: 'bytes', code: 200, headers: { ...headers, 'content-type': type }, body: page.body };
}

const hash = (data: string | Buffer): Buffer => createHash('sha512').update(data).digest();

function aggregate(registry: Registry, isCore: boolean): JsonObject {
  const groups = registry.groups().filter((g) => (g.group === '') === isCore);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: isCore ? {} : { name: group },
      versions: versions.map((version) => ({
        version,
        resources: registry.inVersion(group, version).map(discovered),
        freshness: 'Current',
      })),
    })),
  };
}

function discovered(kind: Kind): JsonObject {
  const own = kind.builtIn ? { group: '', version: '' } : { group: kind.group, version: kind.version };
  return {
    resource: kind.plural,
    responseKind: { ...own, kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...names(kind),
    ...(kind.subresources.length === 0
      ? {}
      : {
          subresources: subresourcesOf(kind).map((sub) => ({
            subresource: sub.name,
            responseKind:
              sub.group === ''
                ? { ...own, kind: sub.kind }
                : { group: sub.group, version: sub.version, kind: sub.kind },
            verbs: sub.verbs,
          })),
        }),
  };
}
