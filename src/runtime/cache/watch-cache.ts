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
import { Echoes } from './echoes.ts';
import type { FeedHost } from './feed.ts';
import { Feeds } from './feeds.ts';
import { FirstList } from './first-list.ts';
import { IdleCompression } from './idle-compression.ts';
import { keyOf } from '../keys.ts';
import { scopeOf } from './namespace-scope.ts';
import { OverlaidStore } from './overlaid-store.ts';
import { Overlay } from './overlay.ts';
import { parseSelector, type Selector } from './selector.ts';
import { sourceName } from './source-name.ts';
import { ObjectStore } from './store.ts';
import { Subscribers } from './subscribers.ts';
import { dropManagedFields, keepsFieldsOf } from './transforms.ts';
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
  readonly #subscribers: Subscribers<T>;
  readonly #transform: (obj: T) => T;
  readonly #selector: Selector;
  readonly #feeds: Feeds<T>;
  readonly #firstList: FirstList;
  readonly #leaveScope: () => void;
  #started: Promise<void> | undefined;

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
    this.#subscribers = new Subscribers(this.#log);
    this.#echoes = new Echoes({
      store: this.#store,
      compare: this.#compare,
      clock: deps.clock,
      onEcho: (audience, change) => {
        this.#subscribers.tellEcho(audience, change);
      },
    });
    this.#transform = options.transform ?? dropManagedFields;
    this.#selector = parseSelector(options.labels);
    this.#firstList = new FirstList({ ...deps, name: this.name, problem: () => this.problem });
    this.#feeds = new Feeds(this.#createFeedHost(), () => {
      this.#firstList.complete();
    });
    this.#leaveScope = this.#joinScope();
    void this.#feeds.update();
    deps.metrics?.know(this.name, this.#store);
  }

  get isSynced(): boolean {
    return this.#feeds.isSynced;
  }

  get problem(): string | undefined {
    return this.#feeds.problem;
  }

  whenRead(namespace: string): Promise<unknown> | undefined {
    return this.#feeds.whenRead(namespace);
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

  keysByIndex(index: string, value: string): Iterable<Key> {
    return this.#reads.keysByIndex(index, value);
  }

  showsFieldsOf(manager: string): boolean {
    return !this.options.metadataOnly && keepsFieldsOf(manager, this.#transform);
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
    const unsubscribe = this.#subscribers.add(subscriber);
    if (subscriber.ownEvents === 'filter') this.#echoes.know({ writer: subscriber.name, mode: 'filter' });
    for (const obj of [...this.list()])
      this.#subscribers.tell(subscriber, { type: 'add', obj, initial: true });
    return unsubscribe;
  }

  /** Delivers changes of the store to all subscribers. */
  #publish(changes: readonly Change<T>[], isListed: boolean): void {
    this.#compression.consider();
    for (const change of changes) {
      this.#overlay.observe(change);
      this.#subscribers.tellAll(this.#echoes.admit(change, isListed));
    }
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
    const write = this.#echoes.begin(key, writer, echo);
    const end = (own?: Answered): void => {
      this.#overlay.end(key);
      for (const { changes, ...audience } of write.end(own))
        this.#subscribers.tellAudience(audience, changes);
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
    const isContained = this.#feeds.contains(key) || this.#store.has(key);
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
        if (this.isSynced) this.#firstList.complete();
      },
      giveUp: (why) => {
        this.#firstList.giveUp(why);
      },
    };
  }

  /** Follows the namespaces of a scope. @returns a function that ends this */
  #joinScope(): () => void {
    const scope = scopeOf(this.options);
    if (!scope) return () => undefined;
    return scope.join({
      open: () => this.#feeds.update(),
      leave: () => Promise.resolve(),
      close: () => {
        this.#dropOutside();
      },
    });
  }

  /** Drops the objects that no feed contains any more. */
  #dropOutside(): void {
    const isOutside = (key: Key): boolean => !this.#feeds.contains(key);
    this.#overlay.clear(isOutside);
    this.#echoes.drop(isOutside);
    for (const key of [...this.#store.keys()].filter(isOutside)) {
      const obj = this.#store.peek(key);
      this.#store.forget(key);
      if (obj) this.#subscribers.tellLeft(obj);
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
    const synced = this.#firstList.wait(signal);
    if (signal.aborted) return synced;
    this.#compression.start(signal);
    signal.addEventListener('abort', this.#leaveScope, { once: true });
    this.#feeds.run(signal);
    if (this.isSynced) this.#firstList.complete();
    return synced;
  }
}
