/**
 * The echo filters of a cache. Writers whose subscribers drop own events have one, and so have writers whose subscribers
 * receive own events, as soon as one of their writes is to be ignored.
 */
import type { Clock } from '../../lib/clock.ts';
import { EchoFilter, type Answered } from './echo.ts';
import type { ObjectStore } from './store.ts';
import type { Change, Key, Obj, Subscriber, Write } from '../types.ts';
import type { CompareVersions } from './versions.ts';

type Mode = Subscriber<Obj>['ownEvents'];
/** The subscribers with the name of a writer that want its events in this way. */
export interface Audience {
  readonly writer: string;
  readonly mode: Mode;
}

/** Changes that an audience has not received yet, because they might be echoes of a write that had not ended. */
interface HeldBack<T extends Obj> extends Audience {
  readonly changes: readonly Change<T>[];
}

/** A write that has begun and not ended. */
interface OpenWrite<T extends Obj> {
  /**
   * Must be called once, when the write has ended.
   * @param own what the server answered; absent if the write failed or was not conditional
   * @returns the changes that were held back since it began and are no echoes
   */
  end(own: Answered | undefined): readonly HeldBack<T>[];
}

type Filters<T extends Obj> = Map<string, EchoFilter<T>>;

interface EchoPorts<T extends Obj> {
  readonly store: ObjectStore<T>;
  readonly compare: CompareVersions;
  readonly clock: Clock;
  onEcho(audience: Audience, change: Change<T>): void;
}

export class Echoes<T extends Obj> {
  readonly #ports: EchoPorts<T>;
  readonly #filters: Readonly<Record<Mode, Filters<T>>> = { filter: new Map(), deliver: new Map() };

  constructor(ports: EchoPorts<T>) {
    this.#ports = ports;
  }

  /** Number of keys for which own writes are remembered. */
  get size(): number {
    return this.#all().reduce((sum, echo) => sum + echo.size, 0);
  }

  /** From now on, the events of a writer are recognised. */
  know(audience: Audience): EchoFilter<T> {
    const { store, compare, clock } = this.#ports;
    const filters = this.#filters[audience.mode];
    let echo = filters.get(audience.writer);
    if (!echo) {
      echo = new EchoFilter(store, compare, clock, (change) => {
        this.#ports.onEcho(audience, change);
      });
      filters.set(audience.writer, echo);
    }
    return echo;
  }

  /**
   * A write begins.
   * @param wanted what its writer said about its event
   */
  begin(key: Key, writer: string, wanted: Write['echo']): OpenWrite<T> {
    const concerned: (Audience & { readonly echo: EchoFilter<T> })[] = [];
    const dropping = this.#filters.filter.get(writer);
    if (dropping && wanted !== 'reconcile') concerned.push({ writer, mode: 'filter', echo: dropping });
    if (wanted === 'ignore') {
      const audience: Audience = { writer, mode: 'deliver' };
      concerned.push({ ...audience, echo: this.know(audience) });
    }
    for (const { echo } of concerned) echo.begin(key);
    return {
      end: (own) => concerned.map(({ echo, mode }) => ({ writer, mode, changes: echo.end(key, own) })),
    };
  }

  /** A change that the store has just made. @returns what a subscriber receives now */
  admit(change: Change<T>, isListed: boolean): (subscriber: Subscriber<T>) => readonly Change<T>[] {
    const admitted = { filter: admitAll(this.#filters.filter), deliver: admitAll(this.#filters.deliver) };
    return ({ name, ownEvents }) => admitted[ownEvents].get(name) ?? [change];

    function admitAll(filters: Filters<T>): Map<string, readonly Change<T>[]> {
      const result = new Map<string, readonly Change<T>[]>();
      for (const [writer, echo] of filters) result.set(writer, echo.admit(change, isListed));
      return result;
    }
  }

  relisted(version: string, isInScope: (key: Key) => boolean): void {
    for (const echo of this.#all()) echo.relisted(version, isInScope);
  }

  /** Drops what is remembered about keys that the cache no longer contains. */
  drop(isOutside: (key: Key) => boolean): void {
    for (const echo of this.#all()) echo.drop(isOutside);
  }

  #all(): EchoFilter<T>[] {
    return [...this.#filters.filter.values(), ...this.#filters.deliver.values()];
  }
}
