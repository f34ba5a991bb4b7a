/** The caches of a process with given objects in them, and their real indexes: for code that reads and never watches. */
import { createWorld, type World } from '../../src/landscape/world.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type { Cache, Caches, Change, Key, Kind, Obj, Subscriber, View } from '../../src/runtime/types.ts';

class StaticCache<T extends Obj> implements Cache<T> {
  readonly kind: Kind<T>;
  readonly name: string;
  readonly isSynced = true;
  readonly problem = undefined;
  readonly #objects: ReadonlyMap<Key, View<T>>;
  readonly #subscribers = new Set<Subscriber<T>>();
  readonly #indexes = new Map<string, (obj: View<T>) => readonly string[]>();

  constructor(kind: Kind<T>, objects: readonly View<T>[]) {
    this.kind = kind;
    this.name = kind.plural;
    this.#objects = new Map(objects.map((object) => [keyOf(object), object]));
  }

  get size(): number {
    return this.#objects.size;
  }
  get(key: Key): View<T> | undefined {
    return this.#objects.get(key);
  }
  peek(key: Key): View<T> | undefined {
    return this.#objects.get(key);
  }
  versionOf(key: Key): string | undefined {
    return this.#objects.get(key)?.metadata.resourceVersion;
  }
  whenRead(): undefined {
    return undefined;
  }
  keys(): Iterable<Key> {
    return this.#objects.keys();
  }
  list(namespace?: string): Iterable<View<T>> {
    const all = [...this.#objects.values()];
    return all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  }
  /** @throws Error for an unknown index */
  byIndex(index: string, value: string): readonly View<T>[] {
    const keysOf = this.#indexes.get(index);
    if (!keysOf) throw new Error(`${this.name} have no index ${index}`);
    return [...this.#objects.values()].filter((object) => keysOf(object).includes(value));
  }
  keysByIndex(index: string, value: string): Iterable<Key> {
    return this.byIndex(index, value).map(keyOf);
  }
  index(name: string, keysOf: (obj: View<T>) => readonly string[]): void {
    this.#indexes.set(name, keysOf);
  }
  showsFieldsOf(): boolean {
    return false;
  }
  subscribe(subscriber: Subscriber<T>): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }
  tell(change: Change<T>): void {
    for (const subscriber of this.#subscribers) subscriber.on(change);
  }
  begin(): { done(): void; failed(): void } {
    return { done: () => undefined, failed: () => undefined };
  }
  start(): Promise<void> {
    return Promise.resolve();
  }
}

export function worldOf(...objects: readonly View<Obj>[]): World {
  const of = <T extends Obj>(kind: Kind<T>): Cache<T> =>
    new StaticCache(
      kind,
      objects.filter((object) => object.kind === kind.kind) as unknown as readonly View<T>[],
    );
  return createWorld({ of } as Caches);
}

/** Reports a change to all listeners of a cache of `worldOf`; the cache itself stays the same. */
export function tell<T extends Obj>(cache: Cache<T>, change: Change<T>): void {
  if (!(cache instanceof StaticCache)) throw new TypeError(`${cache.name} are not of worldOf`);
  cache.tell(change);
}
