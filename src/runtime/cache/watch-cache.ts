/**
 * One watched kind for the whole process: the watch fills the store, own writes are overlaid, subscribers receive
 * changes, and writers do not receive their own echoes.
 *
 * An event is handled completely, up to the last subscriber, in one turn of the event loop, so no reader sees a
 * partial state.
 */
import type { Clock } from '../../lib/clock.ts';
import { copy, deepFreeze } from '../../lib/json.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { CacheMetrics } from './metrics.ts';
import type { Answered } from './echo.ts';
import { Echoes, type Audience } from './echoes.ts';
import { SourceError } from '../errors.ts';
import { Feed, type FeedHost } from './feed.ts';
import { IdleCompression } from './idle-compression.ts';
import { keyOf } from '../keys.ts';
import { namespacesOf, scopeOf } from './namespace-scope.ts';
import { OpenFeed } from './open-feed.ts';
import { OverlaidStore } from './overlaid-store.ts';
import { Overlay } from './overlay.ts';
import { parseSelector, type Selector } from './selector.ts';
import { sourceName } from './source-name.ts';
import { ObjectStore } from './store.ts';
import { dropManagedFields } from './transforms.ts';
import type {
  Cache,
  CacheOptions,
  Change,
  Client,
  Key,
  Kind,
  Obj,
  Subscriber,
  View,
  Write,
  WriteTicket,
} from '../types.ts';
import { compareVersions, tellVersionsApart, type CompareVersions } from './versions.ts';

/** Dependencies of a cache besides its client. */
export interface CacheDeps {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics?: CacheMetrics;
  /** Freezes stored objects, so that code that changes them fails; for tests. */
  readonly freeze?: boolean;
  /** Time limit for the first list; default 120 000. */
  readonly syncTimeoutMs?: number;
}

const SYNC_TIMEOUT_MS = 120_000;

/** A cache that a watch keeps up to date. */
export class WatchCache<T extends Obj> implements Cache<T> {
  readonly kind: Kind<T>;
  readonly name: string;
  readonly options: CacheOptions<T>;
  readonly #client: Client;
  readonly #deps: CacheDeps;
  readonly #log: Logger;
  readonly #compare: CompareVersions;
  readonly #store: ObjectStore<T>;
  readonly #overlay: Overlay<T>;
  readonly #reads: OverlaidStore<T>;
  readonly #compression: IdleCompression;
  readonly #echoes: Echoes<T>;
  readonly #subscribers = new Set<Subscriber<T>>();
  readonly #transform: (obj: T) => T;
  readonly #selector: Selector;
  readonly #feedHost: FeedHost<T>;
  /** By namespace; undefined for all. */
  readonly #feeds = new Map<string | undefined, OpenFeed<T>>();
  readonly #leaveScope: () => void;
  #life: AbortSignal | undefined;
  #started: Promise<void> | undefined;
  #onSynced: () => void = () => undefined;
  #onHopeless: (why: string) => void = () => undefined;

  constructor(client: Client, kind: Kind<T>, options: CacheOptions<T>, deps: CacheDeps) {
    this.kind = kind;
    this.options = options;
    this.name = sourceName(kind, options);
    this.#client = client;
    this.#deps = deps;
    this.#log = deps.log.child({ source: this.name });
    this.#compare = options.incomparableVersions ? tellVersionsApart : compareVersions;
    this.#store = new ObjectStore<T>(this.#compare, (obj) => this.#stored(obj));
    this.#compression = new IdleCompression(this.#store, deps.clock);
    this.#overlay = new Overlay<T>(this.#store, this.#compare);
    this.#reads = new OverlaidStore(this.#store, this.#overlay);
    this.#echoes = new Echoes({
      store: this.#store,
      compare: this.#compare,
      clock: deps.clock,
      onEcho: (audience, change) => {
        for (const each of this.#audience(audience)) each.onEcho?.(change);
      },
    });
    this.#transform = options.transform ?? dropManagedFields;
    this.#selector = parseSelector(options.labels);
    this.#feedHost = this.#createFeedHost();
    this.#leaveScope = this.#joinScope();
    void this.#setFeeds();
    deps.metrics?.know(this.name, this.#store);
  }

  get isSynced(): boolean {
    return this.#life !== undefined && this.#all.every((feed) => feed.isSynced);
  }

  get problem(): string | undefined {
    return this.#all.find((feed) => feed.problem !== undefined)?.problem;
  }

  hasRead(namespace: string): boolean {
    return this.#all.every((feed) => feed.isSynced || !feed.contains(`${namespace}/`));
  }

  get #all(): Feed<T>[] {
    return [...this.#feeds.values()].map(({ feed }) => feed);
  }

  /** Own writes that the watch has not confirmed yet. */
  get unconfirmed(): number {
    return this.#overlay.size;
  }

  /** Number of keys for which own writes are remembered; 0 when idle. */
  get remembered(): number {
    return this.#echoes.size;
  }

  // -------------------------------------------------------------- reading

  get(key: Key): View<T> | undefined {
    this.#compression.consider();
    return this.#reads.get(key);
  }

  peek(key: Key): View<T> | undefined {
    return this.#reads.peek(key);
  }

  versionOf(key: Key): string | undefined {
    return this.#reads.versionOf(key);
  }

  keys(): Iterable<Key> {
    return this.#reads.keys();
  }

  get size(): number {
    return this.#reads.size;
  }

  list(namespace?: string): Iterable<View<T>> {
    return this.#reads.list(namespace);
  }

  byIndex(index: string, value: string): readonly View<T>[] {
    this.#compression.consider();
    return this.#reads.byIndex(index, value);
  }

  showsFieldsOf(manager: string): boolean {
    if (this.options.metadataOnly) return false;
    const entry = { manager, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
    const probe = { apiVersion: 'v1', kind: 'Probe', metadata: { name: 'probe', managedFields: [entry] } };
    try {
      return (this.#transform(probe as unknown as T).metadata.managedFields ?? []).length > 0;
    } catch {
      // The transform failed for the probe, so its effect is unknown.
      return true;
    }
  }

  index(name: string, keysOf: (obj: View<T>) => readonly string[]): void {
    const valuesOf = (obj: View<T>): readonly string[] => {
      try {
        return keysOf(obj);
      } catch (error) {
        this.#log.error({ index: name, object: keyOf(obj), err: String(error) }, 'index function failed');
        return [];
      }
    };
    this.#store.index(name, valuesOf);
    this.#overlay.index(name, valuesOf);
  }

  // -------------------------------------------------------------- subscribers

  subscribe(subscriber: Subscriber<T>): () => void {
    this.#subscribers.add(subscriber);
    if (subscriber.ownEvents === 'filter') this.#echoes.know({ writer: subscriber.name, mode: 'filter' });
    for (const obj of [...this.list()]) this.#tell(subscriber, { type: 'add', obj, initial: true });
    return () => {
      this.#subscribers.delete(subscriber);
    };
  }

  #tell(subscriber: Subscriber<T>, change: Change<T>): void {
    try {
      subscriber.on(change);
    } catch (error) {
      this.#log.error(
        { subscriber: subscriber.name, object: keyOf(change.obj), err: String(error) },
        'subscriber failed',
      );
    }
  }

  /** Delivers changes of the store to all subscribers. */
  #publish(changes: readonly Change<T>[], isListed: boolean): void {
    this.#compression.consider();
    for (const change of changes) {
      this.#overlay.observe(change);
      const admitted = this.#echoes.admit(change, isListed);
      for (const subscriber of [...this.#subscribers])
        for (const each of admitted(subscriber)) this.#tell(subscriber, each);
    }
  }

  #audience({ writer, mode }: Audience): Subscriber<T>[] {
    return [...this.#subscribers].filter(({ name, ownEvents }) => name === writer && ownEvents === mode);
  }

  // -------------------------------------------------------------- own writes

  begin(key: Key, writer: string, echo?: Write['echo']): WriteTicket<T> {
    let isOpen = true;
    const close = (): boolean => {
      const wasOpen = isOpen;
      isOpen = false;
      return wasOpen;
    };
    this.#overlay.begin(key);
    const endEcho = this.#echoes.begin(key, writer, echo);
    const end = (own?: Answered): void => {
      this.#overlay.end(key);
      for (const { changes, ...audience } of endEcho(own))
        for (const change of changes)
          for (const subscriber of this.#audience(audience)) this.#tell(subscriber, change);
    };
    return {
      done: (answer, conditional) => {
        if (!close()) return;
        let own: Answered | undefined;
        try {
          own = this.#confirm(key, answer, conditional);
        } catch (error) {
          this.#log.error({ object: key, err: String(error) }, 'storing the response of a write failed');
        }
        end(own);
      },
      failed: () => {
        if (close()) end();
      },
    };
  }

  /** Overlays the response of a write. @returns what the writer's echo filter needs to know about it */
  #confirm(begunAs: Key, answer: T, conditional: boolean): Answered | undefined {
    const obj = this.#prepare(copy(answer));
    const version = obj.metadata.resourceVersion;
    const isToCome = this.#overlay.put(begunAs, obj, this.#isSelected(obj));
    return conditional && version !== undefined ? { key: keyOf(obj), version, isToCome } : undefined;
  }

  #isSelected(obj: View<T>): boolean {
    const key = keyOf(obj);
    // An object of a namespace that is being removed stays visible to the reconcile that writes it.
    const isContained = this.#all.some((feed) => feed.contains(key)) || this.#store.has(key);
    return isContained && this.#selector.matches(obj.metadata.labels);
  }

  #prepare(obj: T): View<T> {
    return this.#stored(this.#transform(obj));
  }

  #stored(obj: T): View<T> {
    return (this.#deps.freeze ? deepFreeze(obj) : obj) as View<T>;
  }

  // -------------------------------------------------------------- the watch

  #createFeedHost(): FeedHost<T> {
    return {
      ...this.#deps,
      name: this.name,
      kind: this.kind,
      options: this.options,
      client: this.#client,
      log: this.#log,
      compare: this.#compare,
      store: this.#store,
      prepare: (obj) => this.#prepare(obj),
      publish: (changes, isListed) => {
        this.#publish(changes, isListed);
      },
      reset: (contains) => {
        this.#overlay.clear(contains);
      },
      complete: (version, contains) => {
        for (const obj of this.#overlay.relisted(version, contains)) {
          this.#publish([{ type: 'delete', obj, finalStateUnknown: true }], true);
        }
        this.#echoes.relisted(version, contains);
        if (this.isSynced) this.#onSynced();
      },
      giveUp: (why) => {
        this.#onHopeless(why);
      },
    };
  }

  /** Follows the namespaces of a scope. @returns a function that ends this */
  #joinScope(): () => void {
    const scope = scopeOf(this.options);
    if (!scope) return () => undefined;
    return scope.join({
      open: () => this.#setFeeds(),
      leave: () => Promise.resolve(),
      close: () => {
        this.#dropOutside();
      },
    });
  }

  /** Ends feeds that are not wanted, and starts missing ones. @returns when all are synced or have ended */
  async #setFeeds(): Promise<void> {
    const wanted = namespacesOf(this.options);
    const namespaces = new Set<string | undefined>(wanted === 'all' ? [undefined] : wanted);
    for (const [namespace, { end }] of [...this.#feeds]) {
      if (namespaces.has(namespace)) continue;
      this.#feeds.delete(namespace);
      end();
    }
    for (const namespace of namespaces) {
      if (this.#feeds.has(namespace)) continue;
      const opened = new OpenFeed(new Feed(this.#feedHost, namespace));
      this.#feeds.set(namespace, opened);
      if (this.#life) opened.run(this.#life);
    }
    // The namespace for which the start was waiting may have been removed.
    if (this.isSynced) this.#onSynced();
    if (this.#life) await Promise.all([...this.#feeds.values()].map(({ synced }) => synced));
  }

  /** Drops the objects that no feed contains any more. */
  #dropOutside(): void {
    const feeds = this.#all;
    const isOutside = (key: Key): boolean => !feeds.some((feed) => feed.contains(key));
    this.#overlay.clear(isOutside);
    this.#echoes.drop(isOutside);
    for (const key of [...this.#store.keys()].filter(isOutside)) {
      const obj = this.#store.peek(key);
      this.#store.forget(key);
      if (obj) for (const subscriber of [...this.#subscribers]) this.#tellLeft(subscriber, obj);
    }
  }

  #tellLeft(subscriber: Subscriber<T>, obj: View<T>): void {
    try {
      subscriber.onLeave?.(obj);
    } catch (error) {
      const fields = { subscriber: subscriber.name, object: keyOf(obj), err: String(error) };
      this.#log.error(fields, 'subscriber failed');
    }
  }

  /** It is not used any more. */
  release(): void {
    this.#leaveScope();
  }

  start(signal: AbortSignal): Promise<void> {
    this.#started ??= this.#start(signal);
    return this.#started;
  }

  #start(signal: AbortSignal): Promise<void> {
    const { clock, syncTimeoutMs = SYNC_TIMEOUT_MS } = this.#deps;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      const cancel = clock.at(clock.now() + syncTimeoutMs, () => {
        signal.removeEventListener('abort', onAbort);
        const why = this.problem ?? 'the first list is not complete';
        const seconds = String(Math.round(syncTimeoutMs / 1000));
        reject(
          new SourceError({
            source: this.name,
            message: `${this.name} could not be read within ${seconds} s: ${why}`,
          }),
        );
      });
      this.#onHopeless = (why) => {
        cancel();
        signal.removeEventListener('abort', onAbort);
        reject(new SourceError({ source: this.name, message: `${this.name} could not be read: ${why}` }));
      };
      this.#onSynced = () => {
        cancel();
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.#compression.start(signal);
      this.#life = signal;
      signal.addEventListener('abort', this.#leaveScope, { once: true });
      for (const opened of this.#feeds.values()) opened.run(signal);
      if (this.isSynced) this.#onSynced();
    });
  }
}
