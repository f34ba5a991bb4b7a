/** The first list of a cache, which its start waits for. */
import type { Clock } from '../../lib/clock.ts';
import { SourceError } from '../errors.ts';

/** Whose first list it is. */
interface ListedSource {
  readonly name: string;
  readonly clock: Clock;
  /** Time limit; default 120 000. */
  readonly syncTimeoutMs?: number;
  /** Why nothing arrives at the moment. */
  problem(): string | undefined;
}

const SYNC_TIMEOUT_MS = 120_000;

export class FirstList {
  readonly #source: ListedSource;
  /** The first list is complete. Without effect if nothing waits for it. */
  complete: () => void = () => undefined;
  /** The first list will never complete. Without effect if nothing waits for it. */
  giveUp: (why: string) => void = () => undefined;

  constructor(source: ListedSource) {
    this.#source = source;
  }

  /**
   * Waits until the list is complete.
   * @throws SourceError after the time limit, or if the list will never complete; the reason of the signal
   */
  wait(signal: AbortSignal): Promise<void> {
    const { name, clock, syncTimeoutMs = SYNC_TIMEOUT_MS } = this.#source;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel();
        signal.removeEventListener('abort', onAbort);
      };
      const fail = (message: string): void => {
        stop();
        reject(new SourceError({ source: name, message }));
      };
      const onAbort = (): void => {
        stop();
        reject(signal.reason as Error);
      };
      const cancel = clock.at(clock.now() + syncTimeoutMs, () => {
        const why = this.#source.problem() ?? 'the first list is not complete';
        const seconds = String(Math.round(syncTimeoutMs / 1000));
        fail(`${name} could not be read within ${seconds} s: ${why}`);
      });
      this.giveUp = (why) => {
        fail(`${name} could not be read: ${why}`);
      };
      this.complete = () => {
        stop();
        resolve();
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
