/** A controller as its sources see it: primaries that a test adds and removes, and a list of the events that arrive. */
import { keyOf } from '../../../../src/runtime/keys.ts';
import type { SourceHost } from '../../../../src/runtime/sources/sources.ts';
import type { Cache, Change, Key, Obj, Subscriber, View } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { recordingLogger, type LogLine } from '../../../support/recording-logger.ts';
import { widgets } from './world.ts';

/** Objects without a watch: a test says what happens to them. */
export class FakeCache {
  readonly kind = widgets;
  readonly name = 'widgets';
  isSynced = false;
  starts = 0;
  readonly objects = new Map<Key, View<Obj>>();
  readonly subscribers = new Set<Subscriber<Obj>>();
  readonly indices = new Map<string, (obj: View<Obj>) => readonly string[]>();

  get(key: Key): View<Obj> | undefined {
    return this.objects.get(key);
  }
  peek(key: Key): View<Obj> | undefined {
    return this.objects.get(key);
  }
  list(): Iterable<View<Obj>> {
    return this.objects.values();
  }
  byIndex(index: string, value: string): readonly View<Obj>[] {
    return [...this.objects.values()].filter((obj) => this.indices.get(index)?.(obj).includes(value));
  }
  keysByIndex(index: string, value: string): Iterable<Key> {
    return this.byIndex(index, value).map(keyOf);
  }
  index(name: string, keysOf: (obj: View<Obj>) => readonly string[]): void {
    this.indices.set(name, keysOf);
  }
  subscribe(subscriber: Subscriber<Obj>): () => void {
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }
  start(): Promise<void> {
    this.starts++;
    return Promise.resolve();
  }
  /** What happens to an object reaches all subscribers. */
  change(change: Change<Obj>): void {
    const key = keyOf(change.obj);
    if (change.type === 'delete') this.objects.delete(key);
    else this.objects.set(key, change.obj);
    for (const { on } of this.subscribers) on(change);
  }
  add(obj: View<Obj>): void {
    this.change({ type: 'add', obj, initial: false });
  }
  remove(obj: View<Obj>): void {
    this.change({ type: 'delete', obj, finalStateUnknown: false });
  }
  asCache<T extends Obj>(): Cache<T> {
    return this as unknown as Cache<T>;
  }
}

export interface TestHost {
  readonly host: SourceHost;
  readonly clock: FakeClock;
  readonly primaries: FakeCache;
  /** `A/1: poll generic`, `ignored: parts add`, `echoed: parts update`, `failed: filter of source parts`. */
  readonly events: string[];
  readonly lines: LogLine[];
  /** The events since the last call. */
  taken(): string[];
}

export function createHost(ownEvents: 'filter' | 'deliver' = 'filter'): TestHost {
  const clock = new FakeClock();
  const primaries = new FakeCache();
  const events: string[] = [];
  const { log, lines } = recordingLogger();
  const host: SourceHost = {
    controller: 'widgets',
    ownEvents,
    primaries: primaries.asCache(),
    handles: () => true,
    clock,
    log,
    emit: (key, { source, action }) => events.push(`${key}: ${source} ${action}`),
    ignored: ({ source, action }) => events.push(`ignored: ${source} ${action}`),
    echoed: ({ source, action }) => events.push(`echoed: ${source} ${action}`),
    guard(what, fn, otherwise) {
      try {
        return fn();
      } catch {
        events.push(`failed: ${what}`);
        return otherwise;
      }
    },
  };
  return { host, clock, primaries, events, lines, taken: () => events.splice(0) };
}

/** An object of a key such as `A/1`. */
export const objectOf = (key: Key, more: object = {}): View<Obj> => {
  const [namespace = '', name = ''] = key.split('/');
  return {
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    metadata: { namespace, name, ...more },
  };
};
