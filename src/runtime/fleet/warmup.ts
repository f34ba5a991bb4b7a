/**
 * Between taking the lease of a shard and working on it: the caches must contain the writes of the previous holder,
 * otherwise work that it has started would be started again; and what this process remembers from an earlier time must
 * be dropped.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { Shard } from './shard.ts';

interface WarmUpPorts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Pause after a failure. */
  readonly retryAfterMs: number;
  readonly shards: readonly Shard[];
  /** Brings everything up to date that the work on these shards needs. */
  readonly prepare: (shards: readonly Shard[], signal: AbortSignal) => Promise<void>;
  /** The current membership; a different object after an eviction, and undefined in between. */
  readonly member: () => object | undefined;
  /** Called with shards that have become `held`. */
  readonly onHeld: (shards: readonly Shard[]) => void;
}

export class WarmUp {
  readonly #ports: WarmUpPorts;
  readonly #signal: AbortSignal;
  #isGoingOn = false;

  constructor(ports: WarmUpPorts, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
  }

  /** Turns all shards that are `warming` into `held`: one catch-up for all shards that were taken meanwhile. */
  begin(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    void this.#rounds();
  }

  async #rounds(): Promise<void> {
    const { clock, log, retryAfterMs, shards, prepare, member, onHeld } = this.#ports;
    const signal = this.#signal;
    const isWarming = ({ state }: Shard): boolean => state === 'warming';
    for (;;) {
      const life = member();
      const coming = shards.filter(isWarming);
      if (coming.length === 0) {
        // In the same turn of the event loop as the check: otherwise a shard that is taken in between would never
        // become held.
        this.#isGoingOn = false;
        return;
      }
      if (signal.aborted) return;
      try {
        await prepare(coming, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: String(error) }, 'reading the writes of the previous shard holder failed');
        await sleep(clock, retryAfterMs, signal).catch(() => undefined);
        continue;
      }
      // A shard that was lost and taken again meanwhile must catch up again.
      if (member() !== life) continue;
      const ready = coming.filter(isWarming);
      for (const shard of ready) shard.hold();
      onHeld(ready);
    }
  }
}
