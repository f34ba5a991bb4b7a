/**
 * An API server in memory, equal to a real one as far as the controllers can tell: versions, generations, locking,
 * finalizers, status subresources, owners and their garbage collector. It answers at once and without faults; those
 * are on the way to it, in network.ts. Objects are frozen and shared, never changed.
 */
import { copy, deepFreeze, equal } from '../../../src/lib/json.ts';
import { mergePatch } from '../../../src/lib/merge.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { timestamp } from '../../../src/lib/clock.ts';
import type { Kind, Obj, Write } from '../../../src/runtime/types.ts';
import { hasStatusSubresource, type Stored } from './objects.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly before: Stored | undefined;
  /** For a deletion, the last state of the object. */
  readonly object: Stored;
  /** Who wrote it. */
  readonly actor: string;
}

type Draft = Obj & { spec?: unknown; status?: unknown };

/** A requested change of an object. */
interface Wish {
  readonly kind: Kind;
  readonly key: string;
  readonly before: Stored;
  readonly wanted: Draft;
  /** The request body: version and uid are its preconditions. */
  readonly metadata: Partial<Obj['metadata']>;
  readonly sub: 'status' | undefined;
}

export class Server {
  readonly #clock: Clock;
  readonly #objects = new Map<string, Stored>();
  readonly #log = new Map<string, Change[]>();
  readonly #uids = new Set<string>();
  readonly #listeners: ((change: Change) => void)[] = [];
  #version = 100;
  #created = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get version(): number {
    return this.#version;
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  // -------------------------------------------------------------- reading

  find(kind: Kind, key: string): Stored | undefined {
    return this.#objects.get(`${kind.kind} ${key}`);
  }

  get(kind: Kind, key: string): Stored {
    return (
      this.find(kind, key) ?? refuse(404, 'NotFound', `${kind.plural} "${key}" not found`, 'get', kind, key)
    );
  }

  list(kind?: Kind): Stored[] {
    const all = [...this.#objects.values()];
    return kind ? all.filter((object) => object.kind === kind.kind) : all;
  }

  /** Events of a kind after a version. */
  since(kind: Kind, version: number): readonly Change[] {
    return (this.#log.get(kind.kind) ?? []).filter((change) => change.version > version);
  }

  exists(uid: string): boolean {
    return this.#uids.has(uid);
  }

  // -------------------------------------------------------------- writing

  /** @throws the errors that a client would receive */
  write(write: Write, actor: string): Obj {
    const { verb, kind } = write;
    switch (verb) {
      case 'create':
        return this.#create(kind, write.object, actor);
      case 'merge':
        return this.#patch(write, actor);
      case 'replace':
        return this.#replace({ sub: undefined, ...write }, actor);
      case 'delete':
        return this.#delete(write, actor);
      default:
        throw new Error(`the simulated server has no ${verb}`);
    }
  }

  #create(kind: Kind, object: Draft, actor: string): Obj {
    const { namespace, name } = object.metadata;
    const key = namespace ? `${namespace}/${name}` : name;
    if (this.find(kind, key))
      refuse(409, 'AlreadyExists', `${kind.plural} "${name}" already exists`, 'create', kind, key);
    const created = copy(object);
    created.metadata.uid = `uid-${String(++this.#created)}-${kind.kind.toLowerCase()}-${name}`;
    created.metadata.generation = 1;
    created.metadata.creationTimestamp = timestamp(this.#clock);
    if (hasStatusSubresource(kind.kind)) delete created.status;
    this.#uids.add(created.metadata.uid);
    return this.#commit('ADDED', undefined, created, actor);
  }

  #patch({ kind, key, body, sub }: Extract<Write, { verb: 'merge' }>, actor: string): Obj {
    const before = this.get(kind, key);
    const { metadata = {} } = body as { metadata?: Partial<Obj['metadata']> };
    const wanted = mergePatch(before, body) as Draft;
    return this.#change({ kind, key, before, wanted, metadata, sub }, actor);
  }

  #replace({ kind, object, sub }: Pick<Wish, 'kind' | 'sub'> & { readonly object: Obj }, actor: string): Obj {
    const { namespace, name } = object.metadata;
    const key = namespace ? `${namespace}/${name}` : name;
    const before = this.get(kind, key);
    return this.#change({ kind, key, before, wanted: copy(object), metadata: object.metadata, sub }, actor);
  }

  #change(
    { kind, key, before, wanted, metadata: { resourceVersion: version, uid }, sub }: Wish,
    actor: string,
  ): Obj {
    const isStale = version !== undefined && version !== before.metadata.resourceVersion;
    if (isStale || (uid !== undefined && uid !== before.metadata.uid)) {
      refuse(409, 'Conflict', `${kind.plural} "${key}": the object has been modified`, 'patch', kind, key);
    }
    const isSplit = hasStatusSubresource(kind.kind);
    // Parts that the patch does not touch are shared with the previous version.
    const next = (sub === 'status' ? { ...before, status: wanted.status } : { ...wanted }) as Draft;
    next.metadata = { ...next.metadata };
    if (sub !== 'status' && isSplit) putBack(next, 'status', before);
    for (const field of [
      'name',
      'namespace',
      'uid',
      'resourceVersion',
      'generation',
      'creationTimestamp',
      'deletionTimestamp',
    ] as const) {
      if (before.metadata[field] === undefined) delete next.metadata[field];
      else Object.assign(next.metadata, { [field]: before.metadata[field] });
    }
    this.#validate(kind, key, before, next);
    if (equal(before, next)) return before as Obj;
    if (!equal(authored(before), authored(next)))
      next.metadata.generation = (before.metadata.generation ?? 0) + 1;
    const isGoing = before.metadata.deletionTimestamp !== undefined;
    if (isGoing && !next.metadata.finalizers?.length) return this.#erase(before, next, actor);
    return this.#commit('MODIFIED', before, next, actor);
  }

  #validate(kind: Kind, key: string, before: Stored, next: Draft): void {
    const had = before.metadata.finalizers ?? [];
    const added = (next.metadata.finalizers ?? []).filter((finalizer) => !had.includes(finalizer));
    if (before.metadata.deletionTimestamp !== undefined && added.length > 0)
      refuse(
        422,
        'Invalid',
        'no new finalizers can be added if the object is being deleted',
        'patch',
        kind,
        key,
      );
    const typeOf = (object: { spec?: unknown }) => (object.spec as { type?: string } | undefined)?.type;
    if (kind.kind === 'DeployItem' && typeOf(before) !== typeOf(next))
      refuse(422, 'Invalid', 'spec.type: Forbidden: type is immutable', 'patch', kind, key);
  }

  #delete({ kind, key, uid }: Extract<Write, { verb: 'delete' }>, actor: string): Obj {
    const before = this.get(kind, key);
    if (uid !== undefined && uid !== before.metadata.uid)
      refuse(409, 'Conflict', `the uid in the precondition is not that of ${key}`, 'delete', kind, key);
    if (!before.metadata.finalizers?.length) {
      this.#erase(before, copy(before) as Draft, actor);
      return { apiVersion: 'v1', kind: 'Status', metadata: {} } as Obj;
    }
    if (before.metadata.deletionTimestamp !== undefined) return before as Obj;
    const next = copy(before) as Draft;
    next.metadata.deletionTimestamp = timestamp(this.#clock);
    next.metadata.generation = (next.metadata.generation ?? 0) + 1;
    return this.#commit('MODIFIED', before, next, actor);
  }

  #erase(before: Stored, last: Draft, actor: string): Obj {
    this.#uids.delete(before.metadata.uid ?? '');
    return this.#commit('DELETED', before, last, actor);
  }

  #commit(type: Change['type'], before: Stored | undefined, next: Draft, actor: string): Obj {
    const version = ++this.#version;
    next.metadata.resourceVersion = String(version);
    const object = deepFreeze(next) as unknown as Stored;
    const { namespace, name } = object.metadata;
    const id = `${object.kind} ${namespace ? `${namespace}/${name}` : name}`;
    if (type === 'DELETED') this.#objects.delete(id);
    else this.#objects.set(id, object);
    const change: Change = { type, version, before, object, actor };
    const log = this.#log.get(object.kind);
    if (log) log.push(change);
    else this.#log.set(object.kind, [change]);
    for (const listener of this.#listeners) listener(change);
    return object as Obj;
  }
}

/** The fields whose changes raise the generation. */
const authored = ({ metadata: _m, status: _s, ...rest }: Stored | Draft): object => rest;

function putBack(next: Draft, field: 'status', before: Stored): void {
  if (before[field] === undefined) delete next[field];
  else next[field] = before[field];
}

function refuse(code: number, reason: string, message: string, verb: string, kind: Kind, key: string): never {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
  throw apiErrorFrom(code, { reason, message }, { verb, kind: kind.kind, namespace, name });
}
