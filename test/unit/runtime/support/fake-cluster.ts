/** An API server in memory, as far as controllers can tell: versions, generations, locking, finalizers, watches. */
import { copy, equal } from '../../../../src/lib/json.ts';
import { mergePatch } from '../../../../src/lib/merge.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { joinKey, keyOf } from '../../../../src/runtime/keys.ts';
import type {
  Client,
  Frame,
  JsonOp,
  Key,
  Kind,
  Obj,
  Page,
  Query,
  WatchQuery,
  Write,
} from '../../../../src/runtime/types.ts';

type Stored = Obj & Record<string, unknown>;

export interface Request {
  readonly verb: string;
  readonly kind: string;
  readonly key: Key;
  readonly sub?: string;
  readonly body?: unknown;
}

interface Logged {
  readonly kind: string;
  readonly version: number;
  readonly frame: Frame<Stored>;
}

export class FakeCluster implements Client {
  /** All requests, except lists and watches. */
  readonly requests: Request[] = [];
  /** Watches opened so far, by kind. */
  readonly watches: string[] = [];
  /** The error of a request. */
  fault: (request: Request) => Error | undefined = () => undefined;
  /** Delays requests before they are executed. */
  before: (request: Request) => Promise<void> | undefined = () => undefined;
  /** Kinds whose first list never ends. */
  readonly silent = new Set<string>();
  /** Kinds that have no generation. */
  readonly ungenerated = new Set(['Pod']);
  readonly #objects = new Map<string, Stored>();
  readonly #log: Logged[] = [];
  readonly #wake = new Set<() => void>();
  #version = 100;
  #uid = 0;

  // ------------------------------------------------------------ for tests

  get writes(): string[] {
    return this.requests
      .filter(({ verb }) => verb !== 'get')
      .map(({ verb, sub, kind, key }) => [verb, sub, kind, key].filter(Boolean).join(' '));
  }

  read<T extends Obj>(kind: Kind<T>, key: Key): T | undefined {
    return copy(this.#objects.get(`${kind.kind} ${key}`)) as T | undefined;
  }

  /** Writes as another client would, without `requests` and `fault`. */
  put<T extends Obj>(kind: Kind<T>, object: Omit<T, 'apiVersion' | 'kind'>): T {
    const full = {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      ...object,
    } as unknown as Stored;
    return this.#create(kind.kind, full) as unknown as T;
  }

  edit<T extends Obj>(kind: Kind<T>, key: Key, patch: object, sub?: 'status'): T {
    const old = this.#find(kind.kind, key);
    return this.#update(kind.kind, old, mergePatch(old, patch), sub) as unknown as T;
  }

  remove(kind: Kind<never> | Kind, key: Key): void {
    this.#delete(kind.kind, this.#find(kind.kind, key));
  }

  // ------------------------------------------------------------ Client

  async get<T extends Obj>(kind: Kind<T>, key: Key, signal?: AbortSignal): Promise<T> {
    await this.#arrive({ verb: 'get', kind: kind.kind, key }, signal);
    return copy(this.#find(kind.kind, key)) as unknown as T;
  }

  async *list<T extends Obj>(kind: Kind<T>, query: Query, signal?: AbortSignal): AsyncIterable<Page<T>> {
    await Promise.resolve();
    if (this.silent.has(kind.kind)) {
      await new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
    }
    const items = [...this.#objects.entries()]
      .filter(([id, obj]) => id.startsWith(`${kind.kind} `) && isIn(obj, query.namespace))
      .map(([, obj]) => copy(obj) as unknown as T);
    yield { items, resourceVersion: String(this.#version) };
  }

  async *watch<T extends Obj>(
    kind: Kind<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncIterable<Frame<T>> {
    if (query.sendInitialEvents) {
      throw apiErrorFrom(422, { message: 'no streaming lists here' }, { verb: 'watch', kind: kind.kind });
    }
    this.watches.push(kind.kind);
    const since = Number(query.resourceVersion ?? this.#version);
    let next = this.#log.findIndex(({ version }) => version > since);
    if (next < 0) next = this.#log.length;
    while (!signal.aborted) {
      const news = this.#log.slice(next).filter((each) => each.kind === kind.kind);
      next = this.#log.length;
      for (const { frame } of news) {
        if (!('object' in frame)) continue;
        if (isIn(frame.object, query.namespace)) yield copy(frame) as unknown as Frame<T>;
      }
      if (news.length === 0) await this.#news(signal);
    }
    throw signal.reason;
  }

  async send<T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T> {
    const { verb, sub, kind } = write;
    const key = 'key' in write ? write.key : keyOf(write.object);
    const body =
      'object' in write ? write.object : 'body' in write ? write.body : 'ops' in write ? write.ops : {};
    await this.#arrive({ verb, kind: kind.kind, key, ...(sub && { sub }), body: copy(body) }, signal);
    const answer = copy(this.#carryOut(write as unknown as Write<Stored>, kind.kind, key)) as unknown as T;
    await Promise.resolve();
    return answer;
  }

  raw(): Promise<unknown> {
    return Promise.reject(new Error('not here'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  // ------------------------------------------------------------ inside

  async #arrive(request: Request, signal?: AbortSignal): Promise<void> {
    this.requests.push(request);
    await Promise.resolve();
    await this.before(request);
    signal?.throwIfAborted();
    const error = this.fault(request);
    if (error) throw error;
  }

  #carryOut(write: Write<Stored>, kind: string, key: Key): Stored {
    switch (write.verb) {
      case 'create':
        return this.#create(kind, write.object);
      case 'delete':
        return this.#delete(kind, this.#find(kind, key));
      case 'replace': {
        const old = this.#find(kind, key);
        this.#checkVersion(old, write.object.metadata.resourceVersion);
        return this.#update(
          kind,
          old,
          { ...write.object, metadata: { ...old.metadata, ...write.object.metadata } },
          write.sub,
        );
      }
      case 'strategic':
        throw new Error('not needed');
      case 'merge': {
        const old = this.#find(kind, key);
        const { metadata } = write.body as Partial<Obj>;
        this.#checkVersion(old, metadata?.resourceVersion);
        return this.#update(kind, old, mergePatch(old, write.body), write.sub);
      }
      case 'apply': {
        if (!this.#objects.has(`${kind} ${key}`)) return this.#create(kind, write.object);
        const old = this.#find(kind, key);
        this.#checkVersion(old, write.object.metadata.resourceVersion);
        return this.#update(kind, old, mergePatch(old, write.object), write.sub);
      }
      case 'json': {
        const old = this.#find(kind, key);
        const next = copy(old);
        for (const op of write.ops) applyOp(next, op, kind, key);
        return this.#update(kind, old, next, write.sub);
      }
    }
  }

  #checkVersion(old: Stored, version: string | undefined): void {
    if (version === undefined || version === old.metadata.resourceVersion) return;
    const ref = { verb: 'write', kind: old.kind, name: old.metadata.name };
    throw apiErrorFrom(409, { reason: 'Conflict', message: 'the object has been modified' }, ref);
  }

  #find(kind: string, key: Key): Stored {
    const found = this.#objects.get(`${kind} ${key}`);
    if (found) return found;
    throw apiErrorFrom(
      404,
      { reason: 'NotFound', message: `${kind} ${key} not found` },
      { verb: 'get', kind, name: key },
    );
  }

  #create(kind: string, object: Stored): Stored {
    const key = joinKey(object.metadata.namespace, object.metadata.name);
    if (this.#objects.has(`${kind} ${key}`)) {
      throw apiErrorFrom(
        409,
        { reason: 'AlreadyExists', message: `${key} exists` },
        { verb: 'create', kind },
      );
    }
    const created = copy(object);
    created.metadata.uid = `uid-${String(++this.#uid)}`;
    if (!this.ungenerated.has(kind)) created.metadata.generation ??= 1;
    return this.#commit('ADDED', kind, created);
  }

  #update(kind: string, old: Stored, wanted: Stored, sub: 'status' | undefined): Stored {
    const next = copy(
      sub === 'status' ? { ...old, status: wanted['status'] } : { ...wanted, status: old['status'] },
    );
    const { uid, resourceVersion, generation, deletionTimestamp } = old.metadata;
    Object.assign(next.metadata, { uid, resourceVersion, generation, deletionTimestamp });
    if (equal(old, next)) return old;
    const { metadata: _a, status: _b, ...before } = old;
    const { metadata: _c, status: _d, ...after } = next;
    if (!equal(before, after) && generation !== undefined) next.metadata.generation = generation + 1;
    if (deletionTimestamp && !next.metadata.finalizers?.length) return this.#erase(kind, next);
    return this.#commit('MODIFIED', kind, next);
  }

  #delete(kind: string, old: Stored): Stored {
    if (!old.metadata.finalizers?.length) return this.#erase(kind, copy(old));
    if (old.metadata.deletionTimestamp) return old;
    const next = copy(old);
    next.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    return this.#commit('MODIFIED', kind, next);
  }

  #erase(kind: string, obj: Stored): Stored {
    this.#objects.delete(`${kind} ${keyOf(obj)}`);
    return this.#commit('DELETED', kind, obj);
  }

  #commit(type: 'ADDED' | 'MODIFIED' | 'DELETED', kind: string, object: Stored): Stored {
    object.metadata.resourceVersion = String(++this.#version);
    if (type !== 'DELETED') this.#objects.set(`${kind} ${keyOf(object)}`, object);
    this.#log.push({ kind, version: this.#version, frame: { type, object: copy(object) } });
    for (const wake of [...this.#wake]) wake();
    return object;
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wake.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wake.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}

const isIn = (obj: Obj, namespace: string | undefined): boolean =>
  namespace === undefined || obj.metadata.namespace === namespace;

function applyOp(target: Stored, { op, path, value }: JsonOp, kind: string, key: Key): void {
  const names = path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = names.pop() ?? '';
  let parent = target as unknown as Record<string, unknown>;
  for (const name of names) parent = parent[name] as Record<string, unknown>;
  switch (op) {
    case 'test':
      if (equal(parent[last] ?? null, value ?? null)) return;
      throw apiErrorFrom(
        422,
        { reason: 'Invalid', message: `test of ${path} failed` },
        { verb: 'patch', kind, name: key },
      );
    case 'remove':
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete parent[last];
      return;
    default:
      if (Array.isArray(parent) && last === '-') parent.push(value);
      else parent[last] = copy(value);
  }
}
