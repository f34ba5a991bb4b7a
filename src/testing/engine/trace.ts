/** The last events, for the report of a failure. Lines are formatted only when they are read. */
import type { Clock } from '../../lib/clock.ts';

const KEPT = 400;

export class Trace {
  readonly #clock: Clock;
  readonly #lines: (() => string)[] = [];
  /** Called with every line; for replays that show everything. */
  listener: ((line: string) => void) | undefined;
  /** Hash of all lines since the start: two runs of a seed have the same. */
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#count;
  }

  note(text: () => string): void {
    const at = this.#clock.now();
    const line = (): string => `${(at / 1000).toFixed(3).padStart(9)}  ${text()}`;
    this.#count++;
    this.listener?.(line());
    this.#lines.push(line);
    if (this.#lines.length > KEPT) this.#lines.shift();
  }

  /** @param isWanted default: all lines */
  last(count: number, isWanted: (line: string) => boolean = () => true): string[] {
    return this.#lines
      .map((line) => line())
      .filter(isWanted)
      .slice(-count);
  }
}
