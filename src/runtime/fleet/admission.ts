/** Which objects this replica may work on: those whose place belongs to a shard that it holds. */
import type { Logger } from '../../observability/log.ts';
import type { Admission } from '../controller/share.ts';
import type { Obj, View } from '../types.ts';
import { shardOf } from './names.ts';
import type { Places } from './options.ts';
import type { Shard } from './shard.ts';

/** Objects whose responsible replica is unknown are checked again after this time, if no event comes. */
const UNCLEAR_MS = 30_000;

interface AdmissionPorts {
  readonly log: Logger;
  readonly places: Places;
  /** By number. */
  readonly shards: readonly Shard[];
  /** When an object is checked again after its place could not be determined. */
  readonly retryAfterMs: number;
}

export class ShardAdmission {
  readonly #ports: AdmissionPorts;

  constructor(ports: AdmissionPorts) {
    this.#ports = ports;
  }

  /** Never rejects. */
  admit(object: View<Obj>, signal: AbortSignal): Admission | Promise<Admission> {
    try {
      const place = this.#ports.places.placeOf(object, signal);
      if (!(place instanceof Promise)) return this.#admission(place);
      return place.then(
        (found) => this.#admission(found),
        (error: unknown) => this.#unclear(error, signal),
      );
    } catch (error) {
      return this.#unclear(error, signal);
    }
  }

  holds(place: string): boolean {
    return this.#shard(shardOf(place)).isAdmitting;
  }

  /** Whether this replica may work on the object now; true if only a request could answer that. */
  handles(object: View<Obj>): boolean {
    const place = this.#guess(object);
    return place === undefined || this.holds(place);
  }

  /** Whether an update may have changed the place of the object. */
  hasMoved(old: View<Obj>, object: View<Obj>): boolean {
    try {
      return this.#ports.places.hasMoved?.(old, object) ?? false;
    } catch {
      return true;
    }
  }

  /** Whether an object belongs to one of the shards, or may belong to it. */
  isIn(shards: readonly Shard[]): (object: View<Obj>) => boolean {
    const numbers = new Set(shards.map(({ number }) => number));
    if (numbers.size === 0) return () => false;
    return (object) => {
      const place = this.#guess(object);
      return place === undefined || numbers.has(shardOf(place));
    };
  }

  #admission(place: string | undefined): Admission {
    if (place === undefined) return { is: 'unclear', requeueAfterMs: UNCLEAR_MS };
    const shard = this.#shard(shardOf(place));
    if (!shard.isAdmitting) return { is: 'foreign' };
    return { is: 'ours', begin: (onLost) => shard.begin(onLost) };
  }

  #unclear(error: unknown, signal: AbortSignal): Admission {
    const { log, retryAfterMs } = this.#ports;
    if (!signal.aborted) log.warn({ err: String(error) }, 'cannot determine which shard owns the object');
    return { is: 'unclear', requeueAfterMs: retryAfterMs };
  }

  #shard(number: number): Shard {
    const shard = this.#ports.shards[number];
    if (!shard) throw new RangeError(`there is no shard ${String(number)}`);
    return shard;
  }

  #guess(object: View<Obj>): string | undefined {
    try {
      return this.#ports.places.guess(object);
    } catch {
      // `admit` reports the error.
      return undefined;
    }
  }
}
