/** One request and its answer, or what happens instead. */
import { Conflict, ServerFailure, TooManyRequests, TransportError } from '../../runtime/errors.ts';
import { splitKey } from '../../runtime/keys.ts';
import type { Chance } from '../engine/chance.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { GIVE_UP_MS, LATE_MS, type RequestFault } from './faults.ts';

/** The sender: a process that may be killed, and then neither sends nor receives anything. */
export interface Host {
  readonly name: string;
  isAlive: boolean;
}

export interface SentRequest {
  readonly host: string;
  readonly verb: string;
  readonly kind: string;
  readonly key: string;
}

export interface SimulatedRequest<T> {
  readonly host: Host;
  readonly sent: SentRequest;
  readonly label: () => string;
  readonly faults: Readonly<Partial<Record<RequestFault, number>>>;
  /** What the server does with the request. */
  readonly effect: () => T | Promise<T>;
  readonly signal: AbortSignal | undefined;
}

export interface LostResponses {
  /** Lost answers that the senders still wait for. */
  outstanding: number;
  /** Called when a sender finds out that it gets no answer. */
  onLoss(): void;
}

interface ExchangePorts<T> {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly lostResponses: LostResponses;
  readonly resolve: (result: T) => void;
  readonly reject: (error: Error) => void;
}

export class Exchange<T> {
  readonly #request: SimulatedRequest<T>;
  readonly #ports: ExchangePorts<T>;
  #isOver = false;
  readonly #onAbort = (): void => {
    this.#isOver = true;
    this.#ports.reject(this.#request.signal?.reason as Error);
  };

  constructor(request: SimulatedRequest<T>, ports: ExchangePorts<T>) {
    this.#request = request;
    this.#ports = ports;
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The request arrives at the server. */
  arrive(fault: RequestFault | undefined): void {
    const { host, label, sent } = this.#request;
    const { scheduler, chance, resolve } = this.#ports;
    scheduler.trace.note(() => `${host.name} → ${label()}${fault ? `  [${fault}]` : ''}`);
    switch (fault) {
      case undefined:
        this.takeEffect((result) => this.#answer('ok', () => resolve(result)));
        return;
      case 'lost':
        this.takeEffect(() => this.#lose(chance.between(1, GIVE_UP_MS)));
        return;
      case 'reset':
        this.#lose(chance.happens(0.5) ? 0 : chance.between(1, GIVE_UP_MS));
        return;
      case 'late':
        this.#lose(chance.between(1, 1_000));
        scheduler.add(() => this.#arriveLate(), chance.between(1_000, LATE_MS));
        return;
      default:
        this.#refuse(refusal(fault, sent), fault);
    }
  }

  /** Runs the effect; an error that the server would answer is the answer. */
  takeEffect(then: (result: T) => void): void {
    const { effect, sent } = this.#request;
    void Promise.resolve()
      .then(effect)
      .then(then, (error: unknown) => {
        if (isAnswer(error)) this.#refuse(error, error.name);
        else if (sent.verb === 'call') this.#refuse(error as Error, String(error));
        else this.#ports.scheduler.fail(error as Error);
      });
  }

  #arriveLate(): void {
    const { host, label, effect, sent } = this.#request;
    const { scheduler } = this.#ports;
    scheduler.trace.note(() => `${host.name} → ${label()}  [arrives late]`);
    void Promise.resolve()
      .then(effect)
      .catch((error: unknown) => {
        if (!isAnswer(error) && sent.verb !== 'call') scheduler.fail(error as Error);
      });
  }

  #answer(how: string, then: () => void, delayMs = 0): void {
    const { host, label, signal } = this.#request;
    const { scheduler } = this.#ports;
    scheduler.add(() => {
      if (this.#isOver || !host.isAlive) return;
      this.#isOver = true;
      signal?.removeEventListener('abort', this.#onAbort);
      scheduler.trace.note(() => `${host.name}   ← ${label()}: ${how}`);
      then();
    }, delayMs);
  }

  #refuse(error: Error, how: string, delayMs = 0): void {
    this.#answer(how, () => this.#ports.reject(error), delayMs);
  }

  #lose(delayMs: number): void {
    const { scheduler, lostResponses } = this.#ports;
    lostResponses.outstanding++;
    this.#refuse(noAnswer(), 'no answer', delayMs);
    scheduler.add(() => {
      lostResponses.outstanding--;
      lostResponses.onLoss();
    }, delayMs);
  }
}

const isAnswer = (error: unknown): error is Error =>
  error instanceof Error && (error instanceof TransportError || 'status' in error);

const noAnswer = (): Error =>
  new TransportError({ message: 'lost the connection while waiting for the answer', safeToRepeat: false });

function refusal(fault: 'conflict' | 'tooMany' | 'serverError', { verb, kind, key }: SentRequest): Error {
  const ref = { verb, kind, ...splitKey(key) };
  switch (fault) {
    case 'conflict':
      return new Conflict({ message: 'the object has been modified', status: 409, reason: 'Conflict', ref });
    case 'tooMany':
      return new TooManyRequests({
        message: 'too many requests',
        status: 429,
        reason: 'TooManyRequests',
        ref,
        retryAfterMs: 1_000,
      });
    case 'serverError':
      return new ServerFailure({
        message: 'etcdserver: leader changed',
        status: 500,
        reason: 'InternalError',
        ref,
      });
  }
}
