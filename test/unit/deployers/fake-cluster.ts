/** A cluster in memory behind the runtime's Client: versions, conflicts, finalizers, status subresource, namespaces, CRDs. */
import { createHash } from 'node:crypto';
import { applyStrategicMerge, patchKeysOf } from '../../../src/apiserver/patch/strategic.ts';
import { equal, copy } from '../../../src/lib/json.ts';
import { mergePatch } from '../../../src/lib/merge.ts';
import { apiErrorFrom, NoSuchKind } from '../../../src/runtime/errors.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import type { Client, Frame, Key, Kind, Obj, Page, Query, Write } from '../../../src/runtime/types.ts';
import type { KubeAccess } from '../../../deployers/sdk/access.ts';

export type Any = Obj & Record<string, unknown>;

const kind = (
  group: string,
  version: string,
  name: string,
  plural: string,
  namespaced = true,
): Kind<Obj> => ({
  group,
  version,
  kind: name,
  plural,
  namespaced,
});

const KINDS: readonly Kind<Obj>[] = [
  kind('', 'v1', 'ConfigMap', 'configmaps'),
  kind('', 'v1', 'Secret', 'secrets'),
  kind('', 'v1', 'Pod', 'pods'),
  kind('', 'v1', 'Service', 'services'),
  kind('', 'v1', 'ServiceAccount', 'serviceaccounts'),
  kind('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  kind('', 'v1', 'PersistentVolume', 'persistentvolumes', false),
  kind('', 'v1', 'Namespace', 'namespaces', false),
  kind('apps', 'v1', 'Deployment', 'deployments'),
  kind('batch', 'v1', 'Job', 'jobs'),
  kind('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses', false),
  kind('rbac.authorization.k8s.io', 'v1', 'Role', 'roles'),
  kind('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings'),
  kind('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles', false),
  kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions', false),
  kind('landscaper.gardener.cloud', 'v1alpha1', 'DeployItem', 'deployitems'),
  kind('landscaper.gardener.cloud', 'v1alpha1', 'Target', 'targets'),
  kind('landscaper.gardener.cloud', 'v1alpha1', 'Context', 'contexts'),
  kind('landscaper.gardener.cloud', 'v1alpha1', 'Execution', 'executions'),
  kind('landscaper.gardener.cloud', 'v1alpha1', 'Installation', 'installations'),
  kind('landscaper.gardener.cloud', 'v1alpha1', 'DataObject', 'dataobjects'),
];

const STATUS_SUBRESOURCE = new Set(['DeployItem', 'Execution', 'Deployment', 'Service', 'Job', 'Pod']);

/** One request, in the form that tests compare. */
export interface Seen {
  readonly verb: string;
  readonly what: string;
}

export class FakeCluster implements Client, KubeAccess {
  readonly requests: Seen[] = [];
  #objects = new Map<string, Any>();
  #version = 0;
  /** Called before each write and read; may throw the error of the server. */
  fail: (verb: string, what: string) => void = () => undefined;
  /** Called after each executed write; an error that it throws replaces the response. */
  lost: (verb: string, what: string) => void = () => undefined;
  onChange: (kind: string, key: Key, before: Any | undefined, after: Any | undefined) => void = () =>
    undefined;
  isClosed = false;
  /** Whether new definitions are established at once. */
  establishes = true;
  /** Whether discovery contains the kinds of established definitions. */
  discovers = true;
  /** The logs of pods, by namespace and name. */
  readonly logs = new Map<string, string>();
  /** Clusters with different seeds give their objects different uids. */
  uidSeed = '';

  constructor(...namespaces: string[]) {
    for (const name of namespaces) this.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  // ------------------------------------------------------------ for tests

  get client(): Client {
    return this;
  }

  /** Stores an object unchanged, without recording a request. */
  put(object: Any | Obj): Any {
    const key = this.#key(object.kind, keyOf(object));
    const before = this.#objects.get(key);
    return this.#store(key, before, { ...copy(object), metadata: { ...copy(object.metadata) } });
  }

  find(kindName: string, key: Key): Any | undefined {
    return this.#objects.get(this.#key(kindName, key));
  }

  /** Changes an object as another client would. */
  edit(kindName: string, key: Key, patch: object): Any {
    const object = this.find(kindName, key);
    if (!object) throw new Error(`no ${kindName} ${key}`);
    return this.#store(this.#key(kindName, key), object, mergePatch(object, patch));
  }

  drop(kindName: string, key: Key): void {
    const object = this.find(kindName, key);
    if (object) this.#remove(this.#key(kindName, key), object, kindName, key);
  }

  names(kindName: string): string[] {
    return [...this.#objects.keys()]
      .filter((k) => k.startsWith(`${kindName}|`))
      .map((k) => k.slice(kindName.length + 1));
  }

  /** Requests since the last call, as `verb what`. */
  takeRequests(): string[] {
    return this.requests.splice(0).map(({ verb, what }) => `${verb} ${what}`);
  }

  // ------------------------------------------------------------ Client

  get<T extends Obj>(k: Kind<T>, key: Key): Promise<T> {
    return this.#answer('get', k, key, () => this.#mustFind(k, key) as unknown as T);
  }

  async *list<T extends Obj>(k: Kind<T>, query: Query): AsyncIterable<Page<T>> {
    await this.#answer('list', k, query.namespace ?? '', () => undefined);
    const wanted = (query.labels ?? '')
      .split(',')
      .filter(Boolean)
      .map((part) => part.split('='));
    const items = [...this.#objects.values()].filter(
      (o) =>
        o.kind === k.kind &&
        (query.namespace === undefined || o.metadata.namespace === query.namespace) &&
        wanted.every(([name = '', value]) =>
          value === undefined ? o.metadata.labels?.[name] !== undefined : o.metadata.labels?.[name] === value,
        ),
    );
    yield { items: copy(items) as unknown as T[], resourceVersion: String(this.#version) };
  }

  watch<T extends Obj>(): AsyncIterable<Frame<T>> {
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('the fake cluster has no watch')),
      }),
    };
  }

  send<T extends Obj>(write: Write<T>): Promise<T> {
    const key = 'object' in write ? keyOf(write.object) : write.key;
    const sub = write.sub ? '/status' : '';
    const verb = `${write.verb}${sub}`;
    if (write.isDryRun)
      return this.#answer(`${verb}?dryRun`, write.kind, key, () =>
        this.#takenBack(() => this.#write(write, key) as unknown as T),
      );
    return this.#answer(verb, write.kind, key, () => {
      const written = this.#write(write, key) as unknown as T;
      this.lost(verb, `${write.kind.kind} ${key}`);
      return written;
    });
  }

  /** A client of this cluster with a watch; closing it does not close the cluster. */
  withWatch(watch: (signal: AbortSignal) => AsyncIterable<never>): Client {
    return {
      get: (kind, key) => this.get(kind, key),
      list: (kind, query) => this.list(kind, query),
      send: (write) => this.send(write),
      raw: (method, path) => this.raw(method, path),
      close: () => Promise.resolve(),
      watch: (_kind, _query, signal) => watch(signal),
    };
  }

  raw(method: string, path: string): Promise<unknown> {
    this.requests.push({ verb: method, what: path });
    if (path === '/version') return Promise.resolve({ gitVersion: 'v1.34.0' });
    if (path === '/apis') return Promise.resolve({ groups: [] });
    const version = /^\/apis\/([^/]+\/[^/]+)$/.exec(path)?.[1];
    if (version !== undefined) return this.#discovered(version);
    const [, namespace = '', pod = ''] = /namespaces\/([^/]+)\/pods\/([^/]+)\/log/.exec(path) ?? [];
    const log = this.logs.get(`${namespace}/${pod}`);
    if (log !== undefined) return Promise.resolve(log);
    if (!path.endsWith('/token')) return Promise.reject(new Error(`no answer to ${method} ${path}`));
    return Promise.resolve({ status: { token: `token-of-${path.split('/').at(-2) ?? ''}` } });
  }

  kindOf(apiVersion: string, name: string): Promise<Kind<Obj>> {
    try {
      this.fail('discover', apiVersion);
    } catch (error) {
      return Promise.reject(toError(error));
    }
    const found = [...KINDS, ...this.#customKinds()].find(
      (k) => apiVersionOf(k) === apiVersion && k.kind === name,
    );
    return found ? Promise.resolve(found) : Promise.reject(new NoSuchKind({ apiVersion, kind: name }));
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  // ------------------------------------------------------------ inside

  #answer<R>(verb: string, k: Kind, key: Key, fn: () => R): Promise<R> {
    const what = `${k.kind} ${key}`.trim();
    this.requests.push({ verb, what });
    try {
      this.fail(verb, what);
      return Promise.resolve(fn());
    } catch (error) {
      return Promise.reject(toError(error));
    }
  }

  async #discovered(apiVersion: string): Promise<unknown> {
    await Promise.resolve();
    this.fail('discover', apiVersion);
    const kinds = this.#customKinds(isEstablished).filter((k) => apiVersionOf(k) === apiVersion);
    const resources = kinds.map(({ kind: name, plural, namespaced }) => ({
      name: plural,
      kind: name,
      namespaced,
    }));
    return { resources: this.discovers ? resources : [] };
  }

  #customKinds(isChosen: (crd: Any) => boolean = () => true): Kind<Obj>[] {
    return [...this.#objects.values()]
      .filter((o) => o.kind === 'CustomResourceDefinition' && isChosen(o))
      .map((crd) => {
        const spec = crd['spec'] as {
          group: string;
          scope: string;
          names: { kind: string; plural: string };
          versions: { name: string }[];
        };
        const version = spec.versions[0]?.name ?? '';
        return kind(spec.group, version, spec.names.kind, spec.names.plural, spec.scope !== 'Cluster');
      });
  }

  #key = (kindName: string, key: Key): string => `${kindName}|${key}`;

  #mustFind(k: Kind, key: Key): Any {
    const object = this.#objects.get(this.#key(k.kind, key));
    if (!object) throw refusal(404, 'NotFound', k, key, `${k.plural} "${key}" not found`);
    return copy(object);
  }

  /** Executes a write, and restores the previous state. */
  #takenBack<R>(fn: () => R): R {
    const [objects, version, { onChange }] = [new Map(this.#objects), this.#version, this];
    this.onChange = () => undefined;
    try {
      return fn();
    } finally {
      this.#objects = objects;
      this.#version = version;
      this.onChange = onChange;
    }
  }

  #write<T extends Obj>(write: Write<T>, key: Key): Any {
    const id = this.#key(write.kind.kind, key);
    const before = this.#objects.get(id);
    if (write.verb === 'create') return this.#create(write.kind, key, write.object as unknown as Any);
    if (write.verb === 'apply') {
      if (!before) return this.#create(write.kind, key, write.object as unknown as Any);
      return this.#store(id, before, mergePatch(before, write.object));
    }
    const current = this.#mustFind(write.kind, key);
    if (write.verb === 'delete') return this.#delete(write.kind, key, current, write.uid);
    if (write.verb === 'json') throw new Error('not needed');
    const body = ('body' in write ? write.body : write.object) as unknown as Any;
    const wanted = patched(write, current, body);
    const given = body.metadata as Obj['metadata'] | undefined;
    if (given?.resourceVersion !== undefined && given.resourceVersion !== current.metadata.resourceVersion) {
      throw refusal(
        409,
        'Conflict',
        write.kind,
        key,
        `${write.kind.plural} "${key}": the object has been modified`,
      );
    }
    if (given?.uid !== undefined && given.uid !== current.metadata.uid)
      throw refusal(409, 'Conflict', write.kind, key, 'the UID in the precondition does not match');
    return this.#store(id, before, separated(write, current, wanted));
  }

  #create(k: Kind, key: Key, object: Any): Any {
    const id = this.#key(k.kind, key);
    if (this.#objects.has(id))
      throw refusal(409, 'AlreadyExists', k, key, `${k.plural} "${key}" already exists`);
    const { namespace, name } = object.metadata;
    if (k.namespaced && namespace && !this.#objects.has(this.#key('Namespace', namespace))) {
      throw refusal(404, 'NotFound', k, key, `namespaces "${namespace}" not found`);
    }
    if (name.includes('_')) throw refusal(422, 'Invalid', k, key, `${k.kind} "${name}" is invalid`);
    const custom = this.#customKinds(this.establishes ? undefined : isEstablished).some(
      (c) => c.kind === k.kind,
    );
    if (!custom && !KINDS.some((c) => c.kind === k.kind)) {
      throw refusal(404, 'NotFound', k, key, 'the server could not find the requested resource');
    }
    const folded = copy(object);
    const stringData = folded['stringData'] as Record<string, string> | undefined;
    if (stringData) {
      delete folded['stringData'];
      const data = Object.entries(stringData).map(([n, v]) => [n, Buffer.from(v).toString('base64')]);
      folded['data'] = { ...(folded['data'] as object | undefined), ...Object.fromEntries(data) };
    }
    delete folded.metadata.uid;
    if (k.kind === 'CustomResourceDefinition' && this.establishes)
      folded['status'] = { conditions: [{ type: 'Established', status: 'True' }] };
    return this.#store(id, undefined, folded);
  }

  #delete(k: Kind, key: Key, current: Any, uid: string | undefined): Any {
    const id = this.#key(k.kind, key);
    if (uid !== undefined && uid !== current.metadata.uid) {
      throw refusal(409, 'Conflict', k, key, 'the UID in the precondition does not match');
    }
    if (current.metadata.finalizers && current.metadata.finalizers.length > 0) {
      if (current.metadata.deletionTimestamp) return current;
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      return this.#store(id, current, { ...current, metadata: { ...current.metadata, deletionTimestamp } });
    }
    this.#remove(id, current, k.kind, key);
    return { apiVersion: 'v1', kind: 'Status', metadata: {} as Obj['metadata'], status: 'Success' };
  }

  #remove(id: string, object: Any, kindName: string, key: Key): void {
    this.#objects.delete(id);
    this.onChange(kindName, key, object, undefined);
  }

  #store(id: string, before: Any | undefined, next: Any): Any {
    const [kindName = '', key = ''] = id.split('|');
    const isSame = before && equal(withoutVersion(before), withoutVersion(next));
    if (isSame) return copy(before);
    const metadata = { ...next.metadata };
    metadata.resourceVersion = String(++this.#version);
    metadata.uid =
      before?.metadata.uid ?? metadata.uid ?? uidOf(`${this.uidSeed}${id}#${String(this.#version)}`);
    Object.assign(metadata, creationOf(before));
    const isSpecChange = !equal(before?.['spec'], next['spec']);
    const isStamped =
      metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined;
    metadata.generation = before
      ? (before.metadata.generation ?? 1) + (isSpecChange || isStamped ? 1 : 0)
      : 1;
    const stored: Any = { ...next, metadata };
    if (metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0) {
      this.#remove(id, stored, kindName, key);
      return copy(stored);
    }
    this.#objects.set(id, stored);
    this.onChange(kindName, key, before, stored);
    return copy(stored);
  }
}

const isEstablished = (crd: Any): boolean =>
  (crd['status'] as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.some(
    ({ type, status }) => type === 'Established' && status === 'True',
  ) ?? false;

function patched(write: Write, current: Any, body: Any): Any {
  if (write.verb === 'merge') return mergePatch(current, body);
  if (write.verb !== 'strategic') return body;
  const { group, version, kind: name } = write.kind;
  return applyStrategicMerge(current, body, patchKeysOf(group, version, name));
}

/** Writes to the object do not change its status, writes to the status change nothing else. */
function separated<T extends Obj>(write: Write<T>, current: Any, wanted: Any): Any {
  if (!STATUS_SUBRESOURCE.has(write.kind.kind)) return wanted;
  const { status, ...rest } = wanted;
  if (write.sub === 'status') return { ...current, status };
  return { ...rest, ...(current['status'] !== undefined && { status: current['status'] }) };
}

const withoutVersion = (object: Any): unknown => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: '', generation: 0, uid: '' },
});

const keyOf = ({ metadata: { namespace, name } }: Obj): Key => (namespace ? `${namespace}/${name}` : name);

const uidOf = (seed: string): string => createHash('sha256').update(seed).digest('hex').slice(0, 12);

const refusal = (status: number, reason: string, k: Kind, key: Key, message: string): Error =>
  apiErrorFrom(status, { reason, message }, { verb: 'write', kind: k.kind, name: key });

/** The response of the server to invalid credentials. */
export const unauthorized = (): Error =>
  apiErrorFrom(401, { reason: 'Unauthorized', message: 'Unauthorized' }, { verb: 'get', kind: 'ConfigMap' });

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** A server keeps the time of the creation. */
const creationOf = (before: Any | undefined): object => {
  const { creationTimestamp } = before?.metadata ?? {};
  return creationTimestamp === undefined ? {} : { creationTimestamp };
};
