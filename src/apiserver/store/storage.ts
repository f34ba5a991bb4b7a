/**
 * The store: the newest state per resource, a ring of recent changes, and one counter for all of them.
 * It runs in one event loop, so a commit is one synchronous step and needs no lock. Old states are not kept: a list at
 * an earlier revision starts from the newest one and reverts the changes since.
 */
import type { KubeObject } from '../types.ts';

type Rev = number;

/** A stored state of an object. `view` caches its form for a served kind, together with its bytes. */
export interface Entry {
  readonly rev: Rev;
  readonly key: string;
  readonly obj: KubeObject;
  view?: { readonly of: object; readonly obj: KubeObject; json?: Buffer };
  /** The forms that a conversion webhook has returned, by served kind. */
  converted?: Map<object, KubeObject>;
}

export interface Change {
  readonly rev: Rev;
  readonly key: string;
  readonly at: number;
  readonly prev: Entry | undefined;
  readonly next: Entry | undefined;
  /** Watch frames already encoded for this change, by form. */
  frames?: Map<string, Buffer>;
}

/** The record of a commit, for the log on disk. */
export interface LogRecord {
  readonly rev: Rev;
  readonly resource: string;
  readonly key: string;
  readonly obj: KubeObject | null;
}

interface HistoryLimits {
  /** Number of changes kept per resource, regardless of age. */
  readonly events: number;
  /** Changes younger than this are kept too, up to `MAX_FACTOR` times as many, because memory is limited. */
  readonly seconds: number;
}

const MAX_FACTOR = 5;

/** The expected revision was not the current one. */
export class Stale extends Error {}

export class Resource {
  readonly id: string;
  readonly entries = new Map<string, Entry>();
  /** Changes in order of revision; those before `#logStart` are dropped. */
  #log: Change[] = [];
  #logStart = 0;
  #keys: string[] = [];
  #compactedBefore: Rev;
  readonly listeners = new Set<(change: Change) => void>();

  constructor(id: string, rev: Rev) {
    this.id = id;
    this.#compactedBefore = rev;
  }

  /** Watches and lists may request this revision and any later one. */
  get compactedBefore(): Rev {
    return this.#compactedBefore;
  }

  /** Sorted keys that start with `prefix`, greater than `after`. */
  keys(prefix: string, after = ''): string[] {
    const start = lowerBound(this.#keys, after > prefix ? `${after}\0` : prefix);
    const end = prefix === '' ? this.#keys.length : lowerBound(this.#keys, `${prefix}\uffff`);
    return this.#keys.slice(start, end);
  }

  put(entry: Entry): void {
    if (!this.entries.has(entry.key)) this.#keys.splice(lowerBound(this.#keys, entry.key), 0, entry.key);
    this.entries.set(entry.key, entry);
  }

  drop(key: string): void {
    if (!this.entries.delete(key)) return;
    this.#keys.splice(lowerBound(this.#keys, key), 1);
  }

  record(change: Change, limits: HistoryLimits): void {
    this.#log.push(change);
    const youngest = change.at - limits.seconds * 1000;
    for (let length = this.#log.length - this.#logStart; length > limits.events; length--) {
      if (length <= limits.events * MAX_FACTOR && (this.#log[this.#logStart]?.at ?? 0) >= youngest) break;
      this.#forget();
    }
    if (this.#logStart > 1024 && this.#logStart * 2 > this.#log.length) {
      this.#log = this.#log.slice(this.#logStart);
      this.#logStart = 0;
    }
  }

  #forget(): void {
    const dropped = this.#log[this.#logStart++];
    if (dropped) this.#compactedBefore = dropped.rev;
  }

  /** Drops every change up to and including `rev`. */
  compact(rev: Rev): void {
    while ((this.#log[this.#logStart]?.rev ?? Infinity) <= rev) this.#forget();
    this.#compactedBefore = Math.max(this.#compactedBefore, rev);
  }

  /** Changes later than `rev`, oldest first. */
  changesAfter(rev: Rev): Change[] {
    let low = this.#logStart;
    let high = this.#log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#log[middle]?.rev ?? 0) > rev) high = middle;
      else low = middle + 1;
    }
    return this.#log.slice(low);
  }

  /** Entries under `prefix` at revision `at`, in key order. The caller has checked `compactedBefore`. */
  list(prefix: string, after = '', at?: Rev): Entry[] {
    const changes = at === undefined ? [] : this.changesAfter(at);
    if (changes.length === 0) {
      const found: Entry[] = [];
      for (const key of this.keys(prefix, after)) found.push(this.entries.get(key) as Entry);
      return found;
    }
    const past = new Map<string, Entry | undefined>();
    for (let i = changes.length - 1; i >= 0; i--) {
      const change = changes[i] as Change;
      past.set(change.key, change.prev);
    }
    const names = new Set(this.keys(prefix, after));
    for (const [key, entry] of past) if (entry && key.startsWith(prefix) && key > after) names.add(key);
    return [...names]
      .sort(byBytes)
      .map((key) => (past.has(key) ? past.get(key) : this.entries.get(key)))
      .filter((entry) => entry !== undefined);
  }
}

export interface OwnedRef {
  readonly resource: string;
  readonly key: string;
}

export class Store {
  #rev: Rev;
  readonly #resources = new Map<string, Resource>();
  readonly #byOwner = new Map<string, Map<string, OwnedRef>>();
  readonly #byUid = new Map<string, OwnedRef>();
  readonly #limits: HistoryLimits;
  readonly #now: () => number;
  /** Called within the commit, before the change is visible. */
  onCommit: ((record: LogRecord) => void) | undefined;
  /** Called after each commit with the resource and the change. */
  readonly listeners = new Set<(resource: Resource, change: Change) => void>();

  /** @param now milliseconds, for the age of changes */
  constructor(limits: HistoryLimits, now: () => number, rev: Rev = 0) {
    this.#limits = limits;
    this.#now = now;
    this.#rev = rev;
  }

  get rev(): Rev {
    return this.#rev;
  }

  resource(id: string): Resource {
    let resource = this.#resources.get(id);
    if (!resource) {
      resource = new Resource(id, this.#rev === 0 ? 0 : this.#startRev);
      this.#resources.set(id, resource);
    }
    return resource;
  }

  #startRev: Rev = 0;

  resources(): IterableIterator<Resource> {
    return this.#resources.values();
  }

  get(id: string, key: string): Entry | undefined {
    return this.#resources.get(id)?.entries.get(key);
  }

  /** Objects that have `uid` among their owners. */
  byOwner(uid: string): OwnedRef[] {
    return [...(this.#byOwner.get(uid)?.values() ?? [])];
  }

  byUid(uid: string): OwnedRef | undefined {
    return this.#byUid.get(uid);
  }

  /** Applies a record of the log, without notifying watchers. */
  restore(record: LogRecord): void {
    const resource = this.resource(record.resource);
    const prev = resource.entries.get(record.key);
    const next = record.obj === null ? undefined : { rev: record.rev, key: record.key, obj: record.obj };
    this.#install(resource, record.key, prev, next);
    this.#rev = Math.max(this.#rev, record.rev);
  }

  /** Ends restoring: the history starts here. */
  restored(rev: Rev = this.#rev): void {
    this.#rev = Math.max(this.#rev, rev);
    this.#startRev = this.#rev;
    for (const resource of this.#resources.values()) resource.compact(this.#rev);
  }

  /**
   * Stores `next` as the state of `key` (undefined removes it) and notifies watchers.
   * @param expect required revision of the current state; 0 means absent, undefined means any
   * @throws Stale if the current state has another revision
   */
  commit(id: string, key: string, expect: Rev | undefined, next: KubeObject | undefined): Change {
    const resource = this.resource(id);
    const prev = resource.entries.get(key);
    if (expect !== undefined && (prev?.rev ?? 0) !== expect) throw new Stale(`${id} ${key}`);
    const rev = this.#rev + 1;
    if (next) next.metadata.resourceVersion = String(rev);
    this.onCommit?.({ rev, resource: id, key, obj: next ?? null });
    this.#rev = rev;
    const entry = next && { rev, key, obj: next };
    // An old state is rarely requested; its bytes can be computed again.
    if (prev?.view?.json) delete prev.view.json;
    this.#install(resource, key, prev, entry);
    const change: Change = { rev, key, at: this.#now(), prev, next: entry };
    resource.record(change, this.#limits);
    for (const listener of resource.listeners) listener(change);
    for (const listener of this.listeners) listener(resource, change);
    return change;
  }

  #install(resource: Resource, key: string, prev: Entry | undefined, next: Entry | undefined): void {
    if (prev) this.#unindex(resource, prev);
    if (next) {
      resource.put(next);
      this.#index(resource, next);
    } else resource.drop(key);
  }

  #index(resource: Resource, entry: Entry): void {
    const meta = entry.obj.metadata;
    const ref = { resource: resource.id, key: entry.key };
    if (meta.uid !== undefined) this.#byUid.set(meta.uid, ref);
    for (const owner of meta.ownerReferences ?? []) {
      let refs = this.#byOwner.get(owner.uid);
      if (!refs) this.#byOwner.set(owner.uid, (refs = new Map<string, OwnedRef>()));
      refs.set(`${resource.id} ${entry.key}`, ref);
    }
  }

  #unindex(resource: Resource, entry: Entry): void {
    const meta = entry.obj.metadata;
    if (meta.uid !== undefined) this.#byUid.delete(meta.uid);
    for (const owner of meta.ownerReferences ?? []) {
      const refs = this.#byOwner.get(owner.uid);
      refs?.delete(`${resource.id} ${entry.key}`);
      if (refs?.size === 0) this.#byOwner.delete(owner.uid);
    }
  }
}

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function lowerBound(sorted: readonly string[], value: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
