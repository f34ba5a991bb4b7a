/** A feed with its own life: that of its namespace within a scope. */
import type { Obj } from '../types.ts';
import type { Feed } from './feed.ts';

export class OpenFeed<T extends Obj> {
  readonly feed: Feed<T>;
  /** Resolves when the first list is complete, or when the feed has ended. */
  readonly synced: Promise<void>;
  readonly #life = new AbortController();
  #resolve: () => void = () => undefined;

  constructor(feed: Feed<T>) {
    this.feed = feed;
    this.synced = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    feed.onSynced = this.#resolve;
  }

  /** Runs until the signal aborts or `end` is called. */
  run(signal: AbortSignal): void {
    const both = AbortSignal.any([signal, this.#life.signal]);
    void this.feed.run(both).finally(this.#resolve);
  }

  readonly end = (): void => {
    this.#life.abort(new Error('namespace removed'));
    this.#resolve();
  };
}
