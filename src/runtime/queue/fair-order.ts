/**
 * The order of ready keys, which prevents a namespace from delaying others.
 *
 * Namespaces take turns. Those that recently used much of the controller's time, or failed often, come after the
 * others; those that hold half of the workers come last. Within that, higher priorities come first, and within a
 * namespace and a priority, keys are first in, first out. Example: 2000 keys of A are ready, and each needs a
 * reconcile of a second; B adds one key. A never holds all workers, so B's key starts at once.
 *
 * The requests of a connection are in the same order (transport/lanes.ts): there, a place for a request is a worker.
 *
 * Every operation takes constant time, whatever the number of keys and namespaces.
 */
import { LinkedList, type Linked } from './linked-list.ts';
import { FAILURE_MS, Usage } from './usage.ts';

/**
 * In this order. `full`: holds half of the workers or more. `blocked`, which is not served: has as many reconciles as one
 * namespace may have, most of them slow.
 */
type Tier = 'light' | 'heavy' | 'full' | 'blocked';

/** Maximum number of reconciles that have left their workers, for each worker. */
const SLOW_PER_WORKER = 10;

/**
 * After this many reconciles of light namespaces, one of a heavy namespace starts, so that heavy ones make progress.
 */
const LIGHT_IN_A_ROW = 3;

/** The latest start of an entry of a light namespace. */
interface LightStart {
  readonly name: string;
  /** Its number among all starts. */
  readonly number: number;
}

const NEVER: LightStart = { name: '', number: -Infinity };

/** An entry of the queue; it is ready while it is in a list. */
export interface Waiting<E> extends Linked<E> {
  readonly group: Group<E>;
  priority: number;
}

/** A namespace with keys in the queue. */
interface Group<E> {
  readonly name: string;
  /** Number of its keys, ready or not. */
  size: number;
  running: number;
  /** Reconciles that have left their workers. */
  slow: number;
  tier: Tier;
  /** One for each priority; there are few. */
  readonly lines: Line<E>[];
}

/** The ready keys of a namespace with the same priority; in a ring if it is not empty. */
interface Line<E> extends Linked<Line<E>> {
  readonly group: Group<E>;
  readonly priority: number;
  readonly entries: LinkedList<E>;
}

interface Ring<E> {
  readonly priority: number;
  readonly lines: LinkedList<Line<E>>;
}

export class FairOrder<E extends Waiting<E>> {
  readonly #usage = new Usage();
  readonly #half: number;
  readonly #mostOfOthers: number;
  readonly #groups = new Map<string, Group<E>>();
  readonly #rings: Record<Tier, Ring<E>[]> = { light: [], heavy: [], full: [], blocked: [] };
  readonly #mostSlow: number;
  readonly #yieldsFor: number;
  #starts = 0;
  #slow = 0;
  #running = 0;
  /** Workers held by namespaces that are not light. */
  #runningOfOthers = 0;
  /** Consecutive light reconciles while a heavy namespace waited. */
  #lightInARow = 0;
  /** Of the two light namespaces that started last: the latest, and the other one. */
  #latestLight = NEVER;
  #otherLight = NEVER;
  /** The controller's time that each active reconcile has used, if they share it equally. */
  #shareMs = 0;
  /** `Clock.now()` of the last operation. */
  #now = 0;

  /**
   * @param workers their number; with one or infinitely many, no namespace is limited
   * @param yieldsFor for this many starts after each of a light namespace, the others together hold at most half of the
   * workers; default 0: they do not yield
   */
  constructor(workers: number, yieldsFor = 0) {
    this.#yieldsFor = yieldsFor;
    this.#half = workers > 1 ? Math.ceil(workers / 2) : Infinity;
    this.#mostOfOthers = workers > 1 ? workers - 1 : Infinity;
    this.#mostSlow = workers > 1 && Number.isFinite(workers) ? SLOW_PER_WORKER * workers : 0;
  }

  /** Number of namespaces with state; 0 when idle. */
  get size(): number {
    return this.#groups.size;
  }

  /** A key of this namespace is added to the queue. */
  enter(name: string): Group<E> {
    let group = this.#groups.get(name);
    if (!group) {
      group = { name, tier: 'light', size: 0, running: 0, slow: 0, lines: [] };
      this.#groups.set(name, group);
    }
    group.size++;
    return group;
  }

  /** A key is removed from the queue. */
  leave(group: Group<E>): void {
    if (--group.size === 0) this.#groups.delete(group.name);
  }

  /** Makes an entry ready, with its current priority. @param now `Clock.now()`, here and below */
  push(entry: E, now: number): void {
    const { group, priority } = entry;
    this.#take(now);
    this.#place(group);
    const line = lineOf(group, priority);
    line.entries.push(entry);
    if (!line.list) this.#ring(group.tier, priority).push(line);
  }

  /** Removes a ready entry. */
  remove(entry: E): void {
    const line = lineOf(entry.group, entry.priority);
    line.entries.remove(entry);
    if (!line.entries.first) line.list?.remove(line);
  }

  /** The next entry to start, if there is one that may use a worker. */
  next(): E | undefined {
    const light = this.#first('light');
    if (this.#runningOfOthers >= this.#mostOfOthers) return light;
    if (light && this.#lightInARow < LIGHT_IN_A_ROW) return light;
    const heavy = this.#first('heavy');
    const next = heavy ?? light ?? this.#first('full');
    return next && this.#yields(next.group) ? light : next;
  }

  /** Removes a ready entry and assigns it to a worker. @returns a mark for `end` */
  begin(entry: E, now: number): number {
    const { group, priority } = entry;
    const line = lineOf(group, priority);
    const ring = line.list;
    this.remove(entry);
    if (line.list && ring) {
      ring.remove(line);
      ring.push(line);
    }
    this.#starts++;
    if (group.tier === 'light') this.#startedLight(group.name);
    this.#lightInARow = group.tier === 'light' && this.#head('heavy') ? this.#lightInARow + 1 : 0;
    this.#take(now);
    this.#count(group, 1);
    return this.#shareMs;
  }

  /** @param mark from `begin`; undefined if the reconcile has left its worker */
  end(group: Group<E>, mark: number | undefined, hasFailed: boolean, now: number): void {
    this.#take(now);
    const usedMs = mark === undefined ? 0 : this.#shareMs - mark;
    this.#usage.charge(group.name, usedMs + (hasFailed ? FAILURE_MS : 0), now);
    if (mark === undefined) this.#countSlow(group, -1);
    else this.#count(group, -1);
  }

  /**
   * An active reconcile no longer counts among those of the workers, only among those of its namespace.
   * @returns false if too many have left their workers
   */
  leaveWorker(group: Group<E>, mark: number, now: number): boolean {
    if (this.#slow >= this.#mostSlow) return false;
    this.#take(now);
    this.#usage.charge(group.name, this.#shareMs - mark, now);
    this.#count(group, -1);
    this.#countSlow(group, 1);
    return true;
  }

  #startedLight(name: string): void {
    if (this.#yieldsFor === 0) return;
    if (this.#latestLight.name !== name) this.#otherLight = this.#latestLight;
    this.#latestLight = { name, number: this.#starts };
  }

  /** Whether a namespace may not have another worker because light ones started lately. */
  #yields({ name, tier }: Group<E>): boolean {
    if (tier === 'light' || this.#runningOfOthers < this.#half) return false;
    const last = this.#latestLight.name === name ? this.#otherLight : this.#latestLight;
    return this.#starts - last.number < this.#yieldsFor;
  }

  #countSlow(group: Group<E>, by: 1 | -1): void {
    this.#slow += by;
    group.slow += by;
    this.#place(group);
  }

  #count(group: Group<E>, by: 1 | -1): void {
    this.#running += by;
    group.running += by;
    if (group.tier !== 'light') this.#runningOfOthers += by;
    this.#place(group);
  }

  #take(now: number): void {
    if (this.#running > 0) this.#shareMs += (now - this.#now) / this.#running;
    this.#now = now;
  }

  #head(tier: Tier): Line<E> | undefined {
    for (const { lines } of this.#rings[tier]) if (lines.first) return lines.first;
    return undefined;
  }

  #first(tier: Tier): E | undefined {
    return this.#head(tier)?.entries.first;
  }

  /** Moves a namespace to its current tier. */
  #place(group: Group<E>): void {
    const before = group.tier;
    const tier = this.#tierOf(group);
    if (tier === before) return;
    if (before === 'light') this.#runningOfOthers += group.running;
    if (tier === 'light') this.#runningOfOthers -= group.running;
    group.tier = tier;
    for (const line of group.lines) {
      if (!line.list) continue;
      line.list.remove(line);
      this.#ring(tier, line.priority).push(line);
    }
  }

  #tierOf({ name, running, slow }: Group<E>): Tier {
    if (slow > 0 && running + slow >= this.#mostOfOthers) return 'blocked';
    if (running >= this.#half) return 'full';
    return this.#usage.isHeavy(name, this.#now) ? 'heavy' : 'light';
  }

  #ring(tier: Tier, priority: number): LinkedList<Line<E>> {
    const rings = this.#rings[tier];
    let at = 0;
    for (; at < rings.length; at++) {
      const ring = rings[at] as Ring<E>;
      if (ring.priority === priority) return ring.lines;
      if (ring.priority < priority) break;
    }
    const lines = new LinkedList<Line<E>>();
    rings.splice(at, 0, { priority, lines });
    return lines;
  }
}

function lineOf<E>(group: Group<E>, priority: number): Line<E> {
  let line = group.lines.find((each) => each.priority === priority);
  if (!line) {
    const entries = new LinkedList<E>();
    line = { group, priority, entries, list: undefined, before: undefined, after: undefined };
    group.lines.push(line);
  }
  return line;
}
