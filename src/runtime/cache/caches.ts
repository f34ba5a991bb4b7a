/** Creates the caches of a process. The same kind and selection get the same cache. */
import type { Metrics } from '../../observability/metrics.ts';
import { createCacheMetrics } from './metrics.ts';
import {
  isScope,
  namespacesOf,
  scopeOf,
  type JoinableScope,
  type NamespaceScope,
} from './namespace-scope.ts';
import { WatchCache, type CacheDeps } from './watch-cache.ts';
import { areDisjoint, parseSelector } from './selector.ts';
import { BoundedObjects } from './bounded.ts';
import type { BoundedCacheOptions, Cache, CacheOptions, Caches, Client, Kind, Obj } from '../types.ts';

/** Dependencies of the caches of a process. */
export interface CachesDeps extends Omit<CacheDeps, 'metrics'> {
  readonly client: Client;
  readonly metrics?: Metrics;
  /** Namespaces of caches that name none; default: all namespaces. Kinds without namespace are not restricted. */
  readonly namespaces?: readonly string[] | NamespaceScope;
}

/** The caches of a process. A manager starts them. */
export interface StartableCaches extends Caches {
  /**
   * Starts every cache, and immediately starts those that are requested later. Resolves when all present ones are
   * synced.
   * @throws SourceError naming the first cache whose list did not arrive in time
   */
  start(signal: AbortSignal): Promise<void>;
}

/**
 * Creates the caches of a process. The same kind and selection get the same cache, and so share one watch. No request
 * is sent before `start`.
 * @param deps `metrics` counts objects, states and relists by source; `freeze` is for tests
 */
export function createCaches(deps: CachesDeps): StartableCaches {
  const { client, metrics, namespaces: defaultNamespaces, ...rest } = deps;
  const cacheDeps: CacheDeps = { ...rest, ...(metrics && { metrics: createCacheMetrics(metrics) }) };
  const caches = new Map<string, WatchCache<Obj>>();
  const identity = createIdentity();
  let running: AbortSignal | undefined;
  let count = 0;

  const restricted = <T extends Obj>(kind: Kind<T>, options: CacheOptions<T>): CacheOptions<T> =>
    defaultNamespaces && kind.namespaced && options.namespaces === undefined
      ? { ...options, namespaces: defaultNamespaces }
      : options;

  return {
    of<T extends Obj>(kind: Kind<T>, given: CacheOptions<T> = {}): Cache<T> {
      const options = restricted(kind, given);
      const id = identity(kind, options as unknown as CacheOptions<Obj>);
      const present = caches.get(id);
      if (present) return present as unknown as WatchCache<T>;
      const cache = new WatchCache(client, kind, options, cacheDeps);
      for (const other of caches.values()) {
        if (overlap(cache as unknown as WatchCache<Obj>, other)) {
          deps.log.warn(
            { sources: [other.name, cache.name] },
            'two caches may contain the same object, so a controller that uses both may receive events for its own writes',
          );
        }
      }
      caches.set(id, cache as unknown as WatchCache<Obj>);
      if (running) {
        cache.start(running).catch((error: unknown) => {
          if (!running?.aborted)
            deps.log.error({ source: cache.name, err: String(error) }, 'cache not synced');
        });
      }
      return cache;
    },
    bounded<T extends Obj>(kind: Kind<T>, options: BoundedCacheOptions<T> = {}) {
      const { maxObjects: _n, maxIdleMs: _ms, transform: _t, ...selection } = options;
      const metadata = this.of(kind as Kind, { ...selection, metadataOnly: true });
      return new BoundedObjects(kind, options, { client, clock: deps.clock, metadata, freeze: deps.freeze });
    },
    separate<T extends Obj>(kind: Kind<T>, options: CacheOptions<T> = {}) {
      const cache = new WatchCache(client, kind, restricted(kind, options), cacheDeps);
      const id = `separate ${String(++count)}`;
      caches.set(id, cache as unknown as WatchCache<Obj>);
      const release = (): void => {
        caches.delete(id);
        cache.release();
      };
      return { cache, release };
    },
    all: () => caches.values(),
    async start(signal) {
      running = signal;
      await Promise.all([...caches.values()].map((cache) => cache.start(signal)));
    },
  };
}

/** Two caches are the same if they contain the same objects in the same form. */
function createIdentity(): (kind: Kind, options: CacheOptions<Obj>) => string {
  const transforms = new Map<unknown, number>();
  const scopes = new Map<JoinableScope, number>();
  return (kind, options) => {
    const { transform, namespaces, ...others } = options;
    if (!transforms.has(transform)) transforms.set(transform, transforms.size);
    const scope = scopeOf(options);
    if (scope && !scopes.has(scope)) scopes.set(scope, scopes.size);
    const sorted = namespaces && !isScope(namespaces) ? [...namespaces].sort() : scope && scopes.get(scope);
    return JSON.stringify([kind.group, kind.version, kind.kind, sorted, others, transforms.get(transform)]);
  };
}

/** Whether one object can be in both caches. Field selectors are not compared. */
function overlap(a: WatchCache<Obj>, b: WatchCache<Obj>): boolean {
  if (a.kind.kind !== b.kind.kind || a.kind.group !== b.kind.group) return false;
  const spacesOfB = namespacesOf(b.options);
  const spacesOfA = namespacesOf(a.options);
  const isApart =
    spacesOfA !== 'all' && spacesOfB !== 'all' && !spacesOfA.some((ns) => spacesOfB.includes(ns));
  return !isApart && !areDisjoint(parseSelector(a.options.labels), parseSelector(b.options.labels));
}
