/**
 * Whose key is next, so that no namespace keeps the others waiting.
 *
 * Namespaces take turns. Those that took much of the controller's time lately, or failed often, go after the others;
 * those that hold half of the workers go last. Within that the highest priority goes first, and within a namespace
 * and a priority the key that came first. Example: 2000 keys of A wait, each for a reconcile of a second, and B adds
 * one. A holds at most all workers but one, so B's key begins at once, whatever A does.
 *
 * Every operation takes constant time, whatever the number of keys and namespaces.
 */
import { LinkedList, type Linked } from './linked-list.ts';
import { FAILURE_MS, Usage } from './usage.ts';

/** From first to last. `full`: holds half of the workers or more. */
type Tier = 'light' | 'heavy' | 'full';

/** So many reconciles of light namespaces, then one of a heavy one: going last is not starving. */
const LIGHT_IN_A_ROW = 3;

/** Something that waits for a worker; it is ready while it is in a list. */
export interface Waiting<E> extends Linked<E> {
  readonly group: Group<E>;
  priority: number;
}

/** A namespace with keys that are known to the queue. */
interface Group<E> {
  readonly name: string;
  /** Keys known, ready or not. */
  size: number;
  running: number;
  tier: Tier;
  /** By priority, of which there are few. */
  readonly lines: Line<E>[];
}

/** The ready keys of a namespace with the same priority; it is in a ring while there are any. */
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
  readonly #rings: Record<Tier, Ring<E>[]> = { light: [], heavy: [], full: [] };
  #running = 0;
  /** Workers held by namespaces that are not light. */
  #runningOfOthers = 0;
  /** While a heavy one waited. */
  #lightInARow = 0;
  /** The time that every running reconcile has had if they share the controller's time equally. */
  #shareMs = 0;
  /** `Clock.now()` when something happened last. */
  #now = 0;

  /** @param workers how many there are; of one or of infinitely many no namespace can hold too much */
  constructor(workers: number) {
    this.#half = workers > 1 ? Math.ceil(workers / 2) : Infinity;
    this.#mostOfOthers = workers > 1 ? workers - 1 : Infinity;
  }

  /** Namespaces about which anything is remembered; none at rest. */
  get size(): number {
    return this.#groups.size;
  }

  /** A key of this namespace becomes known. */
  enter(name: string): Group<E> {
    let group = this.#groups.get(name);
    if (!group) {
      group = { name, tier: 'light', size: 0, running: 0, lines: [] };
      this.#groups.set(name, group);
    }
    group.size++;
    return group;
  }

  /** A key is forgotten. */
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

  /** Takes a ready entry out. */
  remove(entry: E): void {
    const line = lineOf(entry.group, entry.priority);
    line.entries.remove(entry);
    if (!line.entries.first) line.list?.remove(line);
  }

  /** The entry that is to begin next, if there is one for which a worker may be used. */
  next(): E | undefined {
    if (this.#runningOfOthers >= this.#mostOfOthers) return this.#first('light');
    if (this.#lightInARow < LIGHT_IN_A_ROW) {
      return this.#first('light') ?? this.#first('heavy') ?? this.#first('full');
    }
    return this.#first('heavy') ?? this.#first('light') ?? this.#first('full');
  }

  /** Takes a ready entry out, for a worker. @returns a mark for `end` */
  begin(entry: E, now: number): number {
    const { group, priority } = entry;
    const line = lineOf(group, priority);
    const ring = line.list;
    this.remove(entry);
    if (line.list && ring) {
      ring.remove(line);
      ring.push(line);
    }
    this.#lightInARow = group.tier === 'light' && this.#head('heavy') ? this.#lightInARow + 1 : 0;
    this.#take(now);
    this.#count(group, 1);
    return this.#shareMs;
  }

  /** @param mark from `begin` */
  end(group: Group<E>, mark: number, hasFailed: boolean, now: number): void {
    this.#take(now);
    this.#usage.charge(group.name, this.#shareMs - mark + (hasFailed ? FAILURE_MS : 0), now);
    this.#count(group, -1);
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

  /** Moves a namespace to the tier to which it belongs now. */
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

  #tierOf({ name, running }: Group<E>): Tier {
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
