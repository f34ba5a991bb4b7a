/**
 * Sources of events besides the primary itself: their interface, and the source that watches a kind.
 *
 * A source is a description; attaching it to a controller makes it active. Sources are attached before the caches
 * start, so that indices and subscriptions exist for the first list.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import { DefinitionError } from '../errors.ts';
import { admits, type Predicate } from './filters.ts';
import { keyOf } from '../keys.ts';
import type { Mapper } from './mappers.ts';
import type { Cache, Change, Key, Kind, Obj, View } from '../types.ts';

/** The cause of an event, with few different values, because they are labels of metrics. */
export interface EventCause {
  /** Name of the source. */
  readonly source: string;
  readonly action: 'add' | 'update' | 'delete' | 'generic';
}

/** What a controller offers to its sources. */
export interface SourceHost<P extends Obj = Obj> {
  readonly controller: string;
  readonly ownEvents: 'filter' | 'deliver';
  readonly primaries: Cache<P>;
  /** Whether this process is responsible for a primary: if replicas share the work, it polls for no others. */
  handles(primary: View<P>): boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Queues a primary; keys that do not exist are ignored.
   * @param cause for logs and metrics; reconcilers do not receive it
   */
  emit(key: Key, cause: EventCause): void;
  /**
   * Counts an event that queues no primary.
   * @param primaries those that the event is about, if a filter dropped it
   */
  ignored(cause: EventCause, primaries?: () => Iterable<Key>): void;
  /** Counts an event that was dropped because it is the echo of an own write. */
  echoed(cause: EventCause): void;
  /** Calls a function of the operator's author. An error is logged and counted, and `otherwise` is returned. */
  guard<T>(what: string, fn: () => T, otherwise: T): T;
}

/** A source that is attached to a controller. */
export interface AttachedSource<P extends Obj = Obj> {
  /** Resolves when the existing values are known; works until the signal aborts. */
  start(signal: AbortSignal): Promise<void>;
  /** The values of a primary, without a request. */
  of(primary: View<P>): readonly unknown[];
  /**
   * Called before this process takes over primaries from another one: reads again what it has polled, or drops it.
   * Sources that only watch caches need none.
   * @throws the error of a request; the take-over is then delayed
   */
  refresh?(isTaken: (primary: View<Obj>) => boolean, signal: AbortSignal): Promise<void>;
}

/**
 * A source of events for primaries, and of values that can be read without a request. It is a description, and
 * becomes active when it is attached to a controller.
 */
export interface Source<P extends Obj = Obj> {
  /** Unique within a controller. */
  readonly name: string;
  /** The kind of the values, if they are objects of one kind. */
  readonly kind?: Kind<never> | Kind;
  /** The cache that it watches, if it does. */
  readonly cache?: Cache<never> | Cache<Obj>;
  /** `state` starts before `normal`. */
  readonly stage: 'state' | 'normal';
  /** Its events are known to this process only, so controllers refuse it if replicas share the work. */
  readonly isLocal?: boolean;
  attach(host: SourceHost<P>): AttachedSource<P>;
}

/** What a source watches, and which primaries its objects belong to. */
export interface WatchSource<R extends Obj, P extends Obj> {
  /** Default: the name of the cache. */
  readonly name?: string;
  readonly cache: Cache<R>;
  /**
   * The primaries of an object; an update is mapped with its old and its new state. Default: those for which `toSecondary`
   * names the object.
   */
  readonly toPrimary?: Mapper<R>;
  /** The objects of a primary, if the objects themselves do not name it. Required without `toPrimary`. */
  readonly toSecondary?: (primary: View<P>) => readonly Key[];
  readonly filter?: Predicate<R>;
  /** Default: `normal`. */
  readonly stage?: 'state' | 'normal';
  /**
   * Default: that of the controller. A source of the primary's own kind uses `deliver` for changes that other
   * primaries need.
   */
  readonly ownEvents?: 'filter' | 'deliver';
}

/**
 * Watches a kind and queues the primaries of its objects. Its first list queues none.
 * @throws DefinitionError without a mapper
 */
export function watchSource<R extends Obj, P extends Obj = Obj>(spec: WatchSource<R, P>): Source<P> {
  const { cache, toSecondary } = spec;
  const name = spec.name ?? cache.name;
  if (!spec.toPrimary && !toSecondary)
    throw new DefinitionError({ message: `source ${name} needs toPrimary or toSecondary` });
  return {
    name,
    kind: cache.kind,
    cache: cache,
    stage: spec.stage ?? 'normal',
    attach(host) {
      const primariesOf = primaryMapper(spec, name, host);
      const indexName = `${host.controller}/${name}`;
      // An index must exist before the first list. A source that is added to a synced cache scans it instead.
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

/** The primaries that `toPrimary` returns, or else those for which `toSecondary` names the object. */
function primaryMapper<R extends Obj, P extends Obj>(
  { toPrimary, toSecondary }: Pick<WatchSource<R, P>, 'toPrimary' | 'toSecondary'>,
  name: string,
  host: SourceHost<P>,
): Mapper<R> {
  const what = `mapper of source ${name}`;
  if (toPrimary) return (obj) => host.guard(what, () => toPrimary(obj), []);
  const { primaries } = host;
  const secondariesOf = (primary: View<P>): readonly Key[] =>
    host.guard(what, () => toSecondary?.(primary) ?? [], []);
  const index = `${host.controller}/primaries by ${name}`;
  // An index must exist before the first list. A source that is added to a running controller reads all primaries instead.
  const isIndexed = !primaries.isSynced;
  if (isIndexed) primaries.index(index, secondariesOf);
  return (obj) => {
    const key = keyOf(obj);
    if (isIndexed) return [...primaries.keysByIndex(index, key)];
    return [...primaries.list()].filter((primary) => secondariesOf(primary).includes(key)).map(keyOf);
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
  const primaries = (): Set<Key> => {
    const found = new Set(primariesOf(change.obj));
    if (change.type === 'update') for (const key of primariesOf(change.old)) found.add(key);
    return found;
  };
  if (filter && !host.guard(`filter of source ${name}`, () => admits(filter, change), false)) {
    host.ignored(cause, primaries);
    return;
  }
  const keys = primaries();
  if (keys.size === 0) host.ignored(cause);
  for (const key of keys) host.emit(key, cause);
}

const isPresent = <T>(value: T | undefined): value is T => value !== undefined;
