/**
 * Detects that a controller and another client fight over a field: we write a value, the other one changes it, we write
 * it again, and so on. After a few rounds the reconciles of the primary are delayed, more with each round. No event is
 * lost: the key stays queued. A new generation of the primary is reconciled at once.
 *
 * A write counts as a round if everything that it changes has the value of our last write of that object. A protocol
 * between two controllers, in which a field returns to a value together with others that are new, does not count.
 */
import { equal } from '../../lib/json.ts';
import { mergeDiff } from '../../lib/merge.ts';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import type { Key, Kind, Obj, View } from '../types.ts';

/** Rounds without a delay. */
const FREE_ROUNDS = 5;
const FIRST_MS = 1_000;
const MAX_MS = 60_000;
/** Time between two rounds, besides the delay, after which they are not part of the same fight. */
const PAUSE_MS = 10_000;
/** Objects whose last own write is remembered. */
const MAX_OBJECTS = 1_000;

/** A field that another client changes back. */
export interface Fight {
  readonly kind: Kind;
  readonly key: Key;
  /** Names from the root of the object to the field. */
  readonly field: readonly string[];
}

interface LastWrite {
  readonly content: object;
  readonly version: string | undefined;
  readonly rounds: number;
  readonly roundAt: number;
}

interface Delay {
  readonly until: number;
  readonly generation: number | undefined;
  readonly fight: Fight;
  isReported: boolean;
}

/** An own write: the object in the cache before and after it, in the same form. */
export interface OwnWrite {
  readonly kind: Kind;
  readonly key: Key;
  readonly before: View<Obj> | undefined;
  readonly after: View<Obj>;
}

export class FightDetector {
  readonly #lastWrites = new Map<string, LastWrite>();
  readonly #delays = new Map<Key, Delay>();

  /** @param primary whose reconcile wrote */
  written(primary: View<Obj>, primaryKey: Key, { kind, key, before, after }: OwnWrite, now: number): void {
    const id = `${kind.group}/${kind.kind} ${key}`;
    const last = this.#lastWrites.get(id);
    const content = contentOf(after);
    const isForeign = before !== undefined && before.metadata.resourceVersion !== last?.version;
    const field = last && isForeign ? restoredField(last.content, contentOf(before), content) : undefined;
    let { rounds = 0, roundAt = now } = last ?? {};
    if (field) {
      rounds = now - roundAt <= delayOf(rounds) + PAUSE_MS ? rounds + 1 : 1;
      roundAt = now;
      const ms = delayOf(rounds);
      const known = this.#delays.get(primaryKey);
      if (ms > 0)
        this.#delays.set(primaryKey, {
          until: now + ms,
          generation: primary.metadata.generation,
          fight: { kind, key, field },
          isReported: known?.isReported ?? false,
        });
    }
    this.#lastWrites.delete(id);
    this.#lastWrites.set(id, { content, version: after.metadata.resourceVersion, rounds, roundAt });
    const [oldest] = this.#lastWrites.keys();
    if (this.#lastWrites.size > MAX_OBJECTS && oldest !== undefined) this.#lastWrites.delete(oldest);
  }

  /** Milliseconds that a reconcile has to wait, or 0. */
  waitMs(key: Key, primary: View<Obj>, now: number): number {
    const delay = this.#delays.get(key);
    if (!delay) return 0;
    if (delay.generation !== primary.metadata.generation) return 0;
    // The entry remains for a while, so that one fight is reported once.
    if (now - delay.until > MAX_MS + PAUSE_MS) this.#delays.delete(key);
    return Math.max(0, delay.until - now);
  }

  /** The fight that delays the primary, the first time that it is asked for. */
  toReport(key: Key): Fight | undefined {
    const delay = this.#delays.get(key);
    if (!delay || delay.isReported) return undefined;
    delay.isReported = true;
    return delay.fight;
  }

  forget(key: Key): void {
    this.#delays.delete(key);
  }
}

const delayOf = (rounds: number): number =>
  rounds < FREE_ROUNDS ? 0 : Math.min(MAX_MS, FIRST_MS * 2 ** (rounds - FREE_ROUNDS));

/** What clients write. */
function contentOf({ apiVersion: _, kind: __, metadata, ...rest }: View<Obj>): object {
  const { labels, annotations } = metadata;
  return { ...rest, metadata: { labels, annotations } };
}

/** The first field that the write from `before` to `after` set, if it only restored values of `last`. */
function restoredField(last: object, before: object, after: object): readonly string[] | undefined {
  const fields: string[][] = [];
  const isRestored = (diff: object, known: unknown, path: readonly string[]): boolean =>
    Object.entries(diff as Fields).every(([name, value]) => {
      const was = ownField(known, name);
      if (isObject(value) && isObject(was)) return isRestored(value, was, [...path, name]);
      if (value === null) return was === undefined || was === null;
      fields.push([...path, name]);
      return equal(was, value);
    });
  const diff = mergeDiff(before, after);
  return diff && isRestored(diff, last, []) ? fields[0] : undefined;
}
