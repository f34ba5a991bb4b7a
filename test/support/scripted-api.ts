/**
 * An API server for tests of caches, as a Client: one kind, versions, history, and faults on demand. It sends nothing
 * unless the test requests it.
 */
import { apiErrorFrom } from '../../src/runtime/errors.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type {
  Client,
  Frame,
  Key,
  Kind,
  Obj,
  Page,
  Query,
  WatchQuery,
  Write,
} from '../../src/runtime/types.ts';

export interface Thing extends Obj {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export const THINGS: Kind<Thing> = {
  group: 'example.io',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
};

export const thing = (name: string, more: Partial<Thing['metadata']> & { spec?: object } = {}): Thing => {
  const { spec, ...metadata } = more;
  return {
    apiVersion: 'example.io/v1',
    kind: 'Thing',
    metadata: { namespace: 'ns', uid: `uid-${name}`, ...metadata, name },
    ...(spec && { spec: spec as Record<string, unknown> }),
  };
};

interface Past {
  readonly version: number;
  readonly frame: Frame<Thing>;
}

interface OpenWatch {
  readonly query: WatchQuery;
  push(frame: Frame<Thing>): void;
  end(error?: unknown): void;
}

export const statusError = (code: number, reason = ''): Error =>
  apiErrorFrom(code, { reason, message: `said ${String(code)}` }, { verb: 'watch', kind: 'Thing' });

export class ScriptedApi implements Client {
  version = 10;
  readonly objects = new Map<Key, Thing>();
  readonly requests: { verb: 'list' | 'watch'; query: Query & WatchQuery }[] = [];
  /** The results of the next requests of a verb instead of a response; undefined lets one through. */
  readonly faults: Record<'list' | 'watch' | 'get' | 'send', (Error | undefined)[]> = {
    list: [],
    watch: [],
    get: [],
    send: [],
  };
  /** The requests, including those with a fault. */
  readonly writes: Write<Obj>[] = [];
  /** Changes an object when it is applied. */
  admit: (object: Obj) => Obj = (object) => object;
  /** Called before each page of a list. */
  beforePage: (page: number) => void = () => undefined;
  streaming: 'yes' | 'refused' | 'no bookmark' = 'refused';
  /** Holds events back until `release`. */
  isHeld = false;
  /** Open connections that never say anything, not even their end. */
  isHalfOpen = false;
  pageSize = 500;
  /** The resource version of lists; default the current version. */
  listVersion: number | undefined;
  #past: Past[] = [];
  #oldest = 0;
  #watches = new Set<OpenWatch>();

  get openWatches(): number {
    return this.#watches.size;
  }

  count(verb: 'list' | 'watch'): number {
    return this.requests.filter((r) => r.verb === verb).length;
  }

  /** Creates or changes an object, as any client would. */
  put(object: Thing): Thing {
    const key = keyOf(object);
    const old = this.objects.get(key);
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(++this.version);
    this.objects.set(key, stored);
    this.#record({ type: old ? 'MODIFIED' : 'ADDED', object: stored });
    return structuredClone(stored);
  }

  remove(key: Key): void {
    const old = this.objects.get(key);
    if (!old) throw new Error(`no ${key}`);
    this.objects.delete(key);
    const object = structuredClone(old);
    object.metadata.resourceVersion = String(++this.version);
    this.#record({ type: 'DELETED', object });
  }

  bookmark(): void {
    const version = String(this.version);
    for (const watch of this.#watches) {
      watch.push({ type: 'BOOKMARK', resourceVersion: version, initialEventsEnd: false });
    }
  }

  /** Sends a frame with any content on all open watches. */
  push(frame: Frame<Thing>): void {
    for (const watch of this.#watches) watch.push(structuredClone(frame));
  }

  /** Forgets the history: older watches get 410. */
  compact(): void {
    this.#past = [];
    this.#oldest = this.version;
  }

  /** Ends all open watches, normally or with an error. */
  drop(error?: unknown): void {
    for (const watch of [...this.#watches]) watch.end(error);
  }

  /** Delivers what was held back. */
  release(): void {
    this.isHeld = false;
    for (const watch of this.#watches) this.#catchUp(watch);
  }

  #record(frame: Frame<Thing>): void {
    const past = { version: this.version, frame };
    this.#past.push(past);
    if (!this.isHeld) for (const watch of this.#watches) this.#send(watch, past);
  }

  readonly #sent = new WeakMap<OpenWatch, number>();

  #send(watch: OpenWatch, past: Past): void {
    this.#sent.set(watch, past.version);
    const { namespace } = watch.query;
    if ('object' in past.frame && namespace && past.frame.object.metadata.namespace !== namespace) return;
    watch.push(structuredClone(past.frame));
  }

  #catchUp(watch: OpenWatch): void {
    const from = this.#sent.get(watch) ?? 0;
    for (const past of this.#past) if (past.version > from) this.#send(watch, past);
  }

  async get<T extends Obj>(_kind: Kind<T>, key: Key): Promise<T> {
    const found = this.objects.get(key);
    await Promise.resolve();
    const fault = this.faults.get.shift();
    if (fault) throw fault;
    if (!found) throw apiErrorFrom(404, {}, { verb: 'get', kind: 'Thing' });
    return structuredClone(found) as unknown as T;
  }

  async *list<T extends Obj>(_kind: Kind<T>, query: Query, signal?: AbortSignal): AsyncGenerator<Page<T>> {
    this.requests.push({ verb: 'list', query });
    await Promise.resolve();
    signal?.throwIfAborted();
    const fault = this.faults.list.shift();
    if (fault) throw fault;
    const resourceVersion = String(this.listVersion ?? this.version);
    const items = [...this.objects.values()]
      .filter((o) => !query.namespace || o.metadata.namespace === query.namespace)
      .map((o) => structuredClone(o));
    let page = 0;
    do {
      this.beforePage(++page);
      await Promise.resolve();
      signal?.throwIfAborted();
      yield { items: items.splice(0, this.pageSize) as unknown as T[], resourceVersion };
    } while (items.length > 0);
  }

  async *watch<T extends Obj>(
    _kind: Kind<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncGenerator<Frame<T>> {
    this.requests.push({ verb: 'watch', query });
    await Promise.resolve();
    signal.throwIfAborted();
    const fault = this.faults.watch.shift();
    if (fault) throw fault;
    if (query.sendInitialEvents && this.streaming === 'refused') throw statusError(422, 'Invalid');
    yield* this.#serve(query, signal) as AsyncGenerator<Frame<T>>;
  }

  async *#serve(query: WatchQuery, signal: AbortSignal): AsyncGenerator<Frame<Thing>> {
    const queue: Frame<Thing>[] = [];
    let wake = (): void => undefined;
    let ended: { error?: unknown } | undefined;
    const watch: OpenWatch = {
      query,
      push: (frame) => {
        queue.push(frame);
        wake();
      },
      end: (error) => {
        ended = error === undefined ? {} : { error };
        this.#watches.delete(watch);
        wake();
      },
    };
    const onAbort = (): void => {
      wake();
    };
    signal.addEventListener('abort', onAbort);
    this.#watches.add(watch);
    try {
      if (!this.isHalfOpen) this.#open(watch);
      for (;;) {
        while (queue.length > 0 && !signal.aborted && !this.isHalfOpen) yield queue.shift() as Frame<Thing>;
        signal.throwIfAborted();
        if (ended) {
          if ('error' in ended) throw ended.error;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (queue.length > 0 && !this.isHalfOpen) resolve();
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#watches.delete(watch);
    }
  }

  #open(watch: OpenWatch): void {
    const { query } = watch;
    watch.push({ type: 'OPEN' });
    const from = Number(query.resourceVersion ?? 0);
    if (query.sendInitialEvents) {
      for (const object of this.objects.values()) {
        if (query.namespace && object.metadata.namespace !== query.namespace) continue;
        watch.push({ type: 'ADDED', object: structuredClone(object) });
      }
      this.#sent.set(watch, this.version);
      if (this.streaming === 'yes') {
        const resourceVersion = String(this.listVersion ?? this.version);
        watch.push({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: true });
      }
      return;
    }
    if (from < this.#oldest) {
      watch.push({ type: 'ERROR', status: { code: 410, reason: 'Expired', message: 'too old' } });
      return;
    }
    this.#sent.set(watch, from);
    if (!this.isHeld) this.#catchUp(watch);
  }

  /** The only writes it supports are applies. */
  async send<T extends Obj>(write: Write<T>): Promise<T> {
    this.writes.push(write);
    await Promise.resolve();
    const fault = this.faults.send.shift();
    if (fault) throw fault;
    if (write.verb !== 'apply') throw new Error('not scripted');
    return this.put(this.admit(write.object)) as unknown as T;
  }

  raw(): Promise<unknown> {
    return Promise.reject(new Error('not scripted'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
