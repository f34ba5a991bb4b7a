/**
 * Between the lease of a shard and the work in it: what others have written is read first, or something that another
 * replica has begun would be begun again.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { Shard } from './shard.ts';

interface WarmUpPorts {
  readonly clock: Clock;
  readonly log: Logger;
  /** How long to rest after a failure. */
  readonly retryAfterMs: number;
  readonly shards: readonly Shard[];
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  /** What this replica is at the moment; something else after it was given up by the others, undefined in between. */
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

  /** Makes every shard that is `warming` `held`: one round for all that have come meanwhile. */
  begin(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    void this.#rounds();
  }

  async #rounds(): Promise<void> {
    const { clock, log, retryAfterMs, shards, catchUp, member, onHeld } = this.#ports;
    const signal = this.#signal;
    const isWarming = ({ state }: Shard): boolean => state === 'warming';
    for (;;) {
      const life = member();
      const coming = shards.filter(isWarming);
      if (coming.length === 0) {
        // In the same turn as the look: a shard that comes in between would be waited for by nobody.
        this.#isGoingOn = false;
        return;
      }
      if (signal.aborted) return;
      try {
        await catchUp(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: String(error) }, 'reading the writes of the previous holder failed');
        await sleep(clock, retryAfterMs, signal).catch(() => undefined);
        continue;
      }
      // A shard that was lost and taken again meanwhile has to catch up again.
      if (member() !== life) continue;
      const ready = coming.filter(isWarming);
      for (const shard of ready) shard.state = 'held';
      onHeld(ready);
    }
  }
}
