/**
 * The expectations of all primaries of a controller.
 *
 * Example: a reconcile starts a rollout and expects it to be complete within 5 min. Events are checked while the primary
 * is idle; what happens during a reconcile is checked at its end. So a reconcile sees only results from before it, and
 * those that it asks for.
 */
import type { Clock } from '../../lib/clock.ts';
import { DefinitionError } from '../errors.ts';
import type {
  CacheReads,
  Expectation,
  ExpectationManager,
  ExpectationResult,
  Key,
  Obj,
  View,
} from '../types.ts';

interface ExpectationPorts<P extends Obj> {
  readonly clock: Clock;
  /** The current state of a primary. */
  primaryOf(key: Key): View<P> | undefined;
  readsOf(primary: View<P>): CacheReads;
  isActive(key: Key): boolean;
  /** Calls a condition of the author. An error is logged and counted, and `otherwise` is returned. */
  guard(what: string, fn: () => boolean, otherwise: boolean): boolean;
  /** Called when an expectation of an idle primary has a result. */
  onResult(key: Key, result: ExpectationResult): void;
}

interface Entry<P extends Obj> {
  expectation: Expectation<P>;
  readonly deadline: number;
  result: Exclude<ExpectationResult, 'none'>;
  /** A reconcile has read the result. */
  isRead: boolean;
  readonly cancelTimer: () => void;
}

interface OfPrimary<P extends Obj> {
  readonly uid: string | undefined;
  readonly entries: Map<string, Entry<P>>;
}

export class Expectations<P extends Obj> {
  readonly #ports: ExpectationPorts<P>;
  readonly #primaries = new Map<Key, OfPrimary<P>>();

  constructor(ports: ExpectationPorts<P>) {
    this.#ports = ports;
  }

  /** Number of primaries with expectations. */
  get size(): number {
    return this.#primaries.size;
  }

  /** The expectations of a primary, for one reconcile. */
  of(key: Key, primary: View<P>): ExpectationManager<P> {
    const { uid } = primary.metadata;
    if (this.#primaries.has(key) && this.#primaries.get(key)?.uid !== uid) this.forget(key);
    const find = (name: string): Entry<P> | undefined => this.#primaries.get(key)?.entries.get(name);
    return {
      expect: (name, expectation) => {
        this.#expect(key, uid, name, expectation);
      },
      resultOf: (name) => {
        const entry = find(name);
        if (!entry) return 'none';
        const current = this.#ports.primaryOf(key) ?? primary;
        entry.result = this.#evaluate(entry, () =>
          entry.expectation.until(current, this.#ports.readsOf(current)),
        );
        entry.isRead = entry.result !== 'pending';
        return entry.result;
      },
      drop: (name) => {
        this.#drop(key, name);
      },
    };
  }

  /** Something may have changed for the primary. */
  check(key: Key): void {
    if (this.#primaries.has(key) && !this.#ports.isActive(key)) this.#settle(key);
  }

  /** A reconcile has ended: drops the results that it read, unless it failed, and checks what happened meanwhile. */
  onEnd(key: Key, hasSucceeded: boolean): void {
    const known = this.#primaries.get(key);
    if (!known) return;
    for (const [name, { isRead }] of known.entries) if (isRead && hasSucceeded) this.#drop(key, name);
    this.#settle(key);
  }

  /** The primary is gone, or another process is responsible for it. */
  forget(key: Key): void {
    for (const { cancelTimer } of this.#primaries.get(key)?.entries.values() ?? []) cancelTimer();
    this.#primaries.delete(key);
  }

  stop(): void {
    for (const key of [...this.#primaries.keys()]) this.forget(key);
  }

  #expect(key: Key, uid: string | undefined, name: string, expectation: Expectation<P>): void {
    const { timeoutMs } = expectation;
    if (!(timeoutMs > 0))
      throw new DefinitionError({
        message: `expectation "${name}": timeoutMs must be a positive number, not ${String(timeoutMs)}`,
      });
    let known = this.#primaries.get(key);
    if (!known) this.#primaries.set(key, (known = { uid, entries: new Map() }));
    const present = known.entries.get(name);
    if (present?.result === 'pending') {
      present.expectation = expectation;
      return;
    }
    const { clock } = this.#ports;
    const deadline = clock.now() + timeoutMs;
    const cancelTimer = clock.at(deadline, () => {
      this.check(key);
    });
    known.entries.set(name, { expectation, deadline, result: 'pending', isRead: false, cancelTimer });
  }

  /** Finds the results of pending expectations. */
  #settle(key: Key): void {
    const known = this.#primaries.get(key);
    const primary = this.#ports.primaryOf(key);
    if (!known || !primary || primary.metadata.uid !== known.uid) return;
    const reads = this.#ports.readsOf(primary);
    for (const [name, entry] of known.entries) {
      if (entry.result !== 'pending') continue;
      entry.result = this.#evaluate(entry, () =>
        this.#ports.guard(`expectation ${name}`, () => entry.expectation.until(primary, reads), false),
      );
      if (entry.result !== 'pending') this.#ports.onResult(key, entry.result);
    }
  }

  #evaluate(entry: Entry<P>, isTrue: () => boolean): Entry<P>['result'] {
    if (entry.result !== 'pending') return entry.result;
    if (isTrue()) {
      entry.cancelTimer();
      return 'fulfilled';
    }
    return this.#ports.clock.now() >= entry.deadline ? 'timed out' : 'pending';
  }

  #drop(key: Key, name: string): void {
    const known = this.#primaries.get(key);
    known?.entries.get(name)?.cancelTimer();
    known?.entries.delete(name);
    if (known?.entries.size === 0) this.#primaries.delete(key);
  }
}
