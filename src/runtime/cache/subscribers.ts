/** The subscribers of a cache. If one fails, the error is logged, and the others still receive the change. */
import type { Logger } from '../../observability/log.ts';
import type { Audience } from './echoes.ts';
import { keyOf } from '../keys.ts';
import type { Change, Obj, Subscriber, View } from '../types.ts';

export class Subscribers<T extends Obj> {
  readonly #log: Logger;
  readonly #all = new Set<Subscriber<T>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @returns a function that removes the subscriber */
  add(subscriber: Subscriber<T>): () => void {
    this.#all.add(subscriber);
    return () => {
      this.#all.delete(subscriber);
    };
  }

  /** Delivers a change to one subscriber. */
  tell(subscriber: Subscriber<T>, change: Change<T>): void {
    this.#attempt(subscriber, change.obj, () => {
      subscriber.on(change);
    });
  }

  /** Delivers to every subscriber the changes that it is to receive. */
  tellAll(changesFor: (subscriber: Subscriber<T>) => readonly Change<T>[]): void {
    for (const subscriber of [...this.#all])
      for (const change of changesFor(subscriber)) this.tell(subscriber, change);
  }

  /** Delivers changes to the subscribers of an audience. */
  tellAudience(audience: Audience, changes: readonly Change<T>[]): void {
    for (const change of changes)
      for (const subscriber of this.#audience(audience)) this.tell(subscriber, change);
  }

  /** Reports a change that an audience does not receive because it is the echo of an own write. */
  tellEcho(audience: Audience, change: Change<T>): void {
    for (const subscriber of this.#audience(audience)) subscriber.onEcho?.(change);
  }

  /** Reports an object that is not visible any more because its namespace was removed. */
  tellLeft(obj: View<T>): void {
    for (const subscriber of [...this.#all])
      this.#attempt(subscriber, obj, () => {
        subscriber.onLeave?.(obj);
      });
  }

  #audience({ writer, mode }: Audience): Subscriber<T>[] {
    return [...this.#all].filter(({ name, ownEvents }) => name === writer && ownEvents === mode);
  }

  #attempt(subscriber: Subscriber<T>, obj: View<T>, call: () => void): void {
    try {
      call();
    } catch (error) {
      const fields = { subscriber: subscriber.name, object: keyOf(obj), err: String(error) };
      this.#log.error(fields, 'subscriber failed');
    }
  }
}
