/** Deletes events an hour after their last write. Uses one timer for all events, and none if there are no events. */
import type { World } from '../api.ts';
import type { Change, Resource } from '../store/storage.ts';

const EVENTS = '/events';
const LIFE_MS = 3_600_000;
const SWEEP_MS = 60_000;

export class EventExpiry {
  readonly #world: World;
  readonly #born = new Map<string, number>();
  readonly #listener: (resource: Resource, change: Change) => void;
  #cancel: (() => void) | undefined;

  constructor(world: World) {
    this.#world = world;
    for (const key of world.store.resource(EVENTS).entries.keys()) this.#note(key);
    this.#listener = (resource, change) => {
      if (resource.id !== EVENTS) return;
      if (change.next) this.#note(change.key);
      else this.#born.delete(change.key);
    };
    world.store.listeners.add(this.#listener);
  }

  stop(): void {
    this.#world.store.listeners.delete(this.#listener);
    this.#cancel?.();
  }

  #note(key: string): void {
    const { clock } = this.#world;
    this.#born.delete(key);
    this.#born.set(key, clock.now());
    this.#cancel ??= clock.at(clock.now() + SWEEP_MS, () => {
      this.#sweep();
    });
  }

  #sweep(): void {
    const { clock, store } = this.#world;
    this.#cancel = undefined;
    const limit = clock.now() - LIFE_MS;
    for (const [key, at] of [...this.#born]) {
      if (at > limit) break;
      if (store.get(EVENTS, key)) store.commit(EVENTS, key, undefined, undefined);
      this.#born.delete(key);
    }
    if (this.#born.size > 0)
      this.#cancel = clock.at(clock.now() + SWEEP_MS, () => {
        this.#sweep();
      });
  }
}
