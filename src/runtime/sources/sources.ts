/**
 * Where events come from besides the primary itself: the contract of a source, and the one that watches a kind.
 *
 * A source is a description; attaching it to a controller makes it live. Attaching happens before the caches
 * start, so that indices and subscriptions are in place for the first list.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import { admits, type Predicate } from './filters.ts';
import { keyOf } from '../keys.ts';
import type { Mapper } from './mappers.ts';
import type { Cache, Change, Key, Kind, Obj, View } from '../types.ts';

/** What happened, in words of which there are few: they become labels of metrics. */
export interface EventCause {
  /** Name of the source. */
  readonly source: string;
  readonly action: 'add' | 'update' | 'delete' | 'generic';
}

/** What a source may ask of the controller it is attached to. */
export interface SourceHost<P extends Obj = Obj> {
  readonly controller: string;
  readonly ownEvents: 'filter' | 'deliver';
  readonly primaries: Cache<P>;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Raises an event for a primary; one that is not there is dropped.
   * @param cause for logs and metrics; never shown to reconcilers
   */
  emit(key: Key, cause: EventCause): void;
  /** Counts an event that concerns no primary. */
  ignored(cause: EventCause): void;
  /** Counts an event that was kept away, for it is the echo of an own write. */
  echoed(cause: EventCause): void;
  /** Runs code of the author: what it throws is logged and counted, and `otherwise` takes its place. */
  guard<T>(what: string, fn: () => T, otherwise: T): T;
}

/** A source at work for one controller. */
export interface AttachedSource<P extends Obj = Obj> {
  /** Resolves when what is there already is known; works until the signal aborts. */
  start(signal: AbortSignal): Promise<void>;
  /** What the source holds for a primary, without a request. */
  of(primary: View<P>): readonly unknown[];
}

/**
 * Where events for primaries come from, and what is known of each without asking: a description, live once it is
 * attached to a controller.
 */
export interface Source<P extends Obj = Obj> {
  /** Unique within a controller. */
  readonly name: string;
  /** What `of` answers with, when that is objects of one kind. */
  readonly kind?: Kind<never> | Kind;
  /** Where it looks, when it watches. */
  readonly cache?: Cache<never> | Cache<Obj>;
  /** `state` starts before `normal`. */
  readonly stage: 'state' | 'normal';
  attach(host: SourceHost<P>): AttachedSource<P>;
}

/** What a source watches, and whom the changes concern. */
export interface WatchSource<R extends Obj, P extends Obj> {
  /** Default: the name of the cache. */
  readonly name?: string;
  readonly cache: Cache<R>;
  /** Which primaries an object concerns; on an update both the old and the new are asked. */
  readonly toPrimary: Mapper<R>;
  /** Which objects belong to a primary, when the objects themselves do not know. */
  readonly toSecondary?: (primary: View<P>) => readonly Key[];
  readonly filter?: Predicate<R>;
  /** Default: `normal`. */
  readonly stage?: 'state' | 'normal';
  /** Default: as the controller says. A source of the primary's own kind delivers what others must hear of. */
  readonly ownEvents?: 'filter' | 'deliver';
}

/** Watches a kind and raises events for the primaries its objects belong to. Its first list raises none. */
export function watchSource<R extends Obj, P extends Obj = Obj>(spec: WatchSource<R, P>): Source<P> {
  const { cache, toSecondary } = spec;
  const name = spec.name ?? cache.name;
  return {
    name,
    kind: cache.kind,
    cache: cache,
    stage: spec.stage ?? 'normal',
    attach(host) {
      const primariesOf = (obj: View<R>): readonly Key[] =>
        host.guard(`mapper of source ${name}`, () => spec.toPrimary(obj), []);
      const indexName = `${host.controller}/${name}`;
      // An index must be in place before the first list. A source that comes later to a filled cache scans.
      const isIndexed = !toSecondary && !cache.isSynced;
      if (isIndexed) cache.index(indexName, primariesOf);
      const unsubscribe = cache.subscribe({
        name: host.controller,
        ownEvents: spec.ownEvents ?? host.ownEvents,
        on: (change) => {
          deliver(change, name, spec.filter, primariesOf, host);
        },
        onEcho: ({ type }) => {
          host.echoed({ source: name, action: type });
        },
      });
      return {
        async start(signal) {
          signal.addEventListener('abort', unsubscribe, { once: true });
          await cache.start(signal);
        },
        of(primary) {
          if (toSecondary)
            return toSecondary(primary)
              .map((key) => cache.get(key))
              .filter(isPresent);
          const key = keyOf(primary);
          if (isIndexed) return cache.byIndex(indexName, key);
          return [...cache.list()].filter((obj) => primariesOf(obj).includes(key));
        },
      };
    },
  };
}

function deliver<R extends Obj>(
  change: Change<R>,
  name: string,
  filter: Predicate<R> | undefined,
  primariesOf: (obj: View<R>) => readonly Key[],
  host: Pick<SourceHost, 'emit' | 'ignored' | 'guard'>,
): void {
  if (change.type === 'add' && change.initial) return;
  const cause: EventCause = { source: name, action: change.type };
  if (filter && !host.guard(`filter of source ${name}`, () => admits(filter, change), false)) {
    host.ignored(cause);
    return;
  }
  const keys = new Set(primariesOf(change.obj));
  if (change.type === 'update') for (const key of primariesOf(change.old)) keys.add(key);
  if (keys.size === 0) host.ignored(cause);
  for (const key of keys) host.emit(key, cause);
}

const isPresent = <T>(value: T | undefined): value is T => value !== undefined;
