/** Requests of the controllers while nothing changes: waiting must cost next to nothing. */
import type { Clock } from '../../../src/lib/clock.ts';
import type { SentRequest } from '../../../src/testing/network/exchange.ts';
import { Violation } from '../../../src/testing/violation.ts';

const WINDOW_MS = 60_000;
/** Failures are retried after 0.5 s, 1 s, 2 s … 60 s; a waiting deployer reconciles every 0.5 to 15 s. */
const MAX_PASSES = { deployers: 40, others: 12 };
/** Requests of all processes together, without watches and their lists. */
const MAX_REQUESTS = 60;

export class Tempo {
  readonly #clock: Clock;
  readonly #onViolation: (violation: Violation) => void;
  readonly #passes = new Map<string, number[]>();
  #requests: number[] = [];
  /** When anything but an Event was last changed, or a fault occurred. */
  changedAt = 0;

  constructor(clock: Clock, onViolation: (violation: Violation) => void) {
    this.#clock = clock;
    this.#onViolation = onViolation;
  }

  changed(): void {
    this.changedAt = this.#clock.now();
  }

  pass(controller: string, key: string): void {
    const id = `${controller} ${key}`;
    const times = this.#recent(this.#passes.get(id) ?? []);
    this.#passes.set(id, times);
    const isDeployer = !['installation', 'execution', 'deployitem', 'context'].includes(controller);
    if (!this.#isCalm || times.length <= (isDeployer ? MAX_PASSES.deployers : MAX_PASSES.others)) return;
    this.#complain(`${times.length} passes of ${id} within a minute in which nothing changed`);
  }

  request({ verb, kind }: SentRequest): void {
    if (verb === 'watch' || verb === 'list' || kind === 'Event' || kind === 'Lease') return;
    this.#requests = this.#recent(this.#requests);
    if (this.#isCalm && this.#requests.length > MAX_REQUESTS)
      this.#complain(`${this.#requests.length} requests within a minute in which nothing changed`);
  }

  get #isCalm(): boolean {
    return this.#clock.now() - this.changedAt >= WINDOW_MS;
  }

  #recent(times: readonly number[]): number[] {
    const now = this.#clock.now();
    return [...times.filter((at) => now - at < WINDOW_MS), now];
  }

  #complain(what: string): void {
    this.#onViolation(new Violation('waiting costs next to nothing', what));
  }
}
