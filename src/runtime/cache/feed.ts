/** One watch of a cache, cluster-wide or of one namespace: stores its events and tracks its state. */
import type { Rng } from '../../lib/rng.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { CacheMetrics } from './metrics.ts';
import { keyOf } from '../keys.ts';
import type { ObjectStore, Origin } from './store.ts';
import type { CacheOptions, Change, Client, Key, Kind, Obj, View } from '../types.ts';
import type { CompareVersions } from './versions.ts';
import { watchKind, type WatchEvent, type WatchState } from './watch.ts';

/** What a feed needs from its cache. */
export interface FeedHost<T extends Obj> {
  readonly name: string;
  readonly kind: Kind<T>;
  readonly options: CacheOptions<T>;
  readonly client: Client;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics?: CacheMetrics;
  readonly compare: CompareVersions;
  readonly store: ObjectStore<T>;
  /** Converts an object to its stored form. */
  prepare(obj: T): View<T>;
  /** @param isListed the changes were found by a list, not by an event */
  publish(changes: readonly Change<T>[], isListed: boolean): void;
  /** The server's history has restarted: own writes in scope are no longer valid. */
  reset(contains: (key: Key) => boolean): void;
  /** A complete list of the scope is stored. */
  complete(version: string, contains: (key: Key) => boolean): void;
  /** The first list will never complete. */
  giveUp(why: string): void;
}

export class Feed<T extends Obj> {
  isSynced = false;
  /** Called when the first list is complete. */
  onSynced: () => void = () => undefined;
  /** Failed attempts since the watch last delivered something. */
  #failures = 0;
  /** Why the watch delivers nothing at the moment. */
  problem: string | undefined;
  readonly #host: FeedHost<T>;
  readonly #namespace: string | undefined;
  readonly #prefix: string;
  /** The list in progress, with the known objects that it has not contained yet. */
  #picture: { readonly origin: Origin; readonly unseen: Set<Key> } | undefined;

  /** @param namespace undefined: all */
  constructor(host: FeedHost<T>, namespace: string | undefined) {
    this.#host = host;
    this.#namespace = namespace;
    this.#prefix = namespace === undefined ? '' : `${namespace}/`;
  }

  readonly contains = (key: Key): boolean => key.startsWith(this.#prefix);

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, kind, clock, rng, compare, log } = this.#host;
    const { labels, fields, metadataOnly } = this.#host.options;
    const options = { clock, rng, compare, namespace: this.#namespace, labels, fields, metadataOnly };
    for await (const event of watchKind(client, kind, options, signal)) {
      if (signal.aborted) return;
      try {
        this.#apply(event);
      } catch (error) {
        // A failing transform must not end the watch; its object keeps the last good state.
        log.error({ err: String(error) }, 'storing an object of a watch failed');
      }
    }
  }

  #apply(event: WatchEvent<T>): void {
    const { store } = this.#host;
    switch (event.type) {
      case 'init':
        this.#begin(event);
        return;
      case 'object': {
        if (!this.#picture) return;
        // The object exists even if it cannot be stored, so it must not count as deleted.
        if (this.#picture.unseen.size > 0) this.#picture.unseen.delete(keyOf(event.object));
        this.#host.publish(store.put(this.#host.prepare(event.object), this.#picture.origin), true);
        return;
      }
      case 'initDone':
        this.#complete(event.version);
        return;
      case 'change': {
        const isDeleted = event.change === 'DELETED';
        if (isDeleted) this.#picture?.unseen.add(keyOf(event.object));
        const obj = this.#host.prepare(event.object);
        this.#host.publish(isDeleted ? store.delete(obj) : store.put(obj, 'event'), false);
        return;
      }
      case 'bookmark':
        return;
      case 'state':
        this.#note(event.state);
    }
  }

  #begin({ reason, acceptsOlder }: Extract<WatchEvent<T>, { type: 'init' }>): void {
    if (reason !== 'start') {
      this.#host.metrics?.relisted(this.#host.name, reason);
      this.#host.log.info({ reason }, 'listing all objects again');
    }
    if (acceptsOlder) this.#host.reset(this.contains);
    const origin = acceptsOlder ? 'relist-older' : this.isSynced ? 'relist' : 'first-list';
    this.#picture = { origin, unseen: new Set([...this.#host.store.keys()].filter(this.contains)) };
  }

  #complete(version: string): void {
    const { store } = this.#host;
    const unseen = this.#picture?.unseen ?? new Set<Key>();
    this.#picture = undefined;
    for (const key of unseen) this.#host.publish(store.forget(key), true);
    this.problem = undefined;
    this.isSynced = true;
    this.onSynced();
    this.#host.complete(version, this.contains);
  }

  #note(state: WatchState): void {
    const { metrics, name, log } = this.#host;
    metrics?.state(name, state.phase);
    if (state.phase === 'watching') {
      this.problem = undefined;
      this.#failures = 0;
    }
    if (state.phase !== 'waiting') return;
    this.#failures++;
    const fields = { err: state.problem, retryMs: Math.round(state.ms) };
    // An API server to which a kind was just added refuses the first requests for it.
    const isStarting = !this.isSynced && !state.isFinal;
    if (this.#failures === (isStarting ? 2 : 1)) log.warn(fields, 'watch interrupted');
    else log.debug(fields, 'watch interrupted');
    this.problem = state.problem;
    if (state.isFinal && !this.isSynced) this.#host.giveUp(state.problem);
  }
}
