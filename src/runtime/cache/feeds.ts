/** The feeds of a cache: one for all namespaces, or one for each. They follow a scope whose namespaces change. */
import { Feed, type FeedHost } from './feed.ts';
import { namespacesOf } from './namespace-scope.ts';
import { OpenFeed } from './open-feed.ts';
import type { Key, Obj } from '../types.ts';

export class Feeds<T extends Obj> {
  readonly #host: FeedHost<T>;
  readonly #onSynced: () => void;
  /** By namespace; undefined for all. */
  readonly #opened = new Map<string | undefined, OpenFeed<T>>();
  #life: AbortSignal | undefined;

  /** @param onSynced called after an update that leaves only synced feeds */
  constructor(host: FeedHost<T>, onSynced: () => void) {
    this.#host = host;
    this.#onSynced = onSynced;
  }

  /** Whether the feeds run, and all their first lists are complete. */
  get isSynced(): boolean {
    return this.#life !== undefined && this.#all.every((feed) => feed.isSynced);
  }

  /** Why one of them delivers nothing at the moment. */
  get problem(): string | undefined {
    return this.#all.find((feed) => feed.problem !== undefined)?.problem;
  }

  whenRead(namespace: string): Promise<unknown> | undefined {
    const key = `${namespace}/`;
    const unread: Promise<void>[] = [];
    for (const { feed, synced } of this.#opened.values())
      if (!feed.isSynced && feed.contains(key)) unread.push(synced);
    return unread.length > 0 ? Promise.all(unread) : undefined;
  }

  contains(key: Key): boolean {
    for (const { feed } of this.#opened.values()) if (feed.contains(key)) return true;
    return false;
  }

  /** Runs all feeds, and those that are opened later, until the signal aborts. */
  run(signal: AbortSignal): void {
    this.#life = signal;
    for (const opened of this.#opened.values()) opened.run(signal);
  }

  /** Ends feeds that are not wanted, and opens missing ones. @returns when all are synced or have ended */
  async update(): Promise<void> {
    const wanted = namespacesOf(this.#host.options);
    const namespaces = new Set<string | undefined>(wanted === 'all' ? [undefined] : wanted);
    for (const [namespace, { end }] of [...this.#opened]) {
      if (namespaces.has(namespace)) continue;
      this.#opened.delete(namespace);
      end();
    }
    for (const namespace of namespaces) {
      if (this.#opened.has(namespace)) continue;
      const opened = new OpenFeed(new Feed(this.#host, namespace));
      this.#opened.set(namespace, opened);
      if (this.#life) opened.run(this.#life);
    }
    // The namespace for which the start was waiting may have been removed.
    if (this.isSynced) this.#onSynced();
    if (this.#life) await Promise.all([...this.#opened.values()].map(({ synced }) => synced));
  }

  get #all(): Feed<T>[] {
    return [...this.#opened.values()].map(({ feed }) => feed);
  }
}
