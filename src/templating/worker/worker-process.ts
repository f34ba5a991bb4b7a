/**
 * A process that does one piece of work at a time and can be stopped in the middle of it. What counts against its work is
 * the processor time it has used; only a process that gets none for long is stopped by the time that has passed.
 */
import { ChildProgram, type ChildEnd } from '../../lib/child-program.ts';
import type { Clock } from '../../lib/clock.ts';
import { estimatedCpuMs } from './cpu-time.ts';
import type { Cost } from './fair-queue.ts';

export interface WorkerOptions {
  /** The module that the workers run; it calls `serve`. */
  readonly entry: URL;
  readonly clock: Clock;
  /** Processor time of a worker in ms since its start; undefined if it cannot be measured. */
  readonly cpuTimeOf: (worker: string) => number | undefined;
  /** Limit of a worker's heap. */
  readonly memoryMiB: number;
  /** JSON that the workers are given at their start. */
  readonly data: unknown;
}

/** Why a worker was stopped; `starved`: it got too little processor time to decide whether its work takes too long. */
export type StopReason = 'time' | 'memory' | 'crash' | 'closed' | 'starved';

/** Work that has no result because its worker was stopped. */
export class WorkStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason, cause?: unknown) {
    super(sentences[reason], { cause });
    this.name = 'WorkStopped';
    this.reason = reason;
  }

  /** Whether the work itself was the cause. */
  get isOwnFault(): boolean {
    return this.reason === 'time' || this.reason === 'memory';
  }
}

const sentences: Readonly<Record<StopReason, string>> = {
  time: 'the worker was stopped: time',
  memory: 'the worker was stopped: memory',
  crash: 'the worker was stopped: crash',
  closed: 'the worker was stopped: closed',
  starved: 'the template was stopped because it got too little CPU time; it is retried',
};

/** Data that several pieces of work share, by an id that never means anything else. */
export interface SharedData {
  readonly id: string;
  /** Called for each worker that has not had it yet. */
  readonly content: () => unknown;
  /** Large, and soon of no use: a worker forgets it with the first work that does without. */
  readonly isPassing?: boolean;
  /** Approximate memory that it needs in a worker; default: almost none. */
  readonly bytes?: number;
}

/** What a worker is sent. */
export interface Assignment {
  readonly work: unknown;
  readonly parcels: readonly (readonly [id: string, content: unknown])[];
  /** Ids of parcels that will not be needed any more. */
  readonly forget: readonly string[];
}

/** What a worker sends, with the processor time it has used since its start. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly worker: string | undefined; readonly cpuMs: number }
  | { readonly kind: 'answer'; readonly answer: unknown; readonly cpuMs: number };

/** Work as it is sent, and the data that it shares with other work. */
export interface Load {
  readonly work: unknown;
  readonly parcels?: readonly SharedData[];
}

export interface Order {
  /** Whose work it is. */
  readonly namespace: string;
  /** Called when a worker takes the work: packed work needs memory, and many may wait. */
  readonly load: () => Load;
  /** Processor time it may use. */
  readonly cpuMs: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

interface WorkerHooks {
  /** The order has ended; the worker may have, too. */
  onDone(order: Order, cost: Cost): void;
  onEnd(): void;
}

/** Parcels that a worker remembers, and bytes of them: its memory is for its work. */
const MAX_PARCELS = 64;
const MAX_PARCEL_BYTES = 16 * 2 ** 20;
/** How long a worker may take to load its code. */
const START_MS = 60_000;
/** How much longer than its processor time a piece of work may last, and how long at least. */
const PATIENCE = 6;
const MIN_PATIENCE_MS = 60_000;
/** Between two looks at the processor time. */
const MIN_LOOK_MS = 20;

export class WorkerProcess {
  readonly #program: ChildProgram;
  readonly #options: WorkerOptions;
  readonly #hooks: WorkerHooks;
  /** Parcels it has, by id, those used last at the end. */
  readonly #has = new Map<string, Pick<SharedData, 'isPassing' | 'bytes'>>();
  #order: Order | undefined;
  #cancelWatch = (): void => undefined;
  #reason: StopReason | undefined;
  #isReady = false;
  #id: string | undefined;
  /** Processor time before the current order. */
  #cpuBefore = 0;
  /** Processor time of the current order when it was looked at last. */
  #seenMs = 0;
  #begun = 0;

  constructor(options: WorkerOptions, hooks: WorkerHooks) {
    this.#options = options;
    this.#hooks = hooks;
    const { entry, memoryMiB, data } = options;
    this.#program = new ChildProgram(
      { entry, memoryMiB, argument: data },
      {
        onMessage: (message) => {
          this.#receive(message as FromWorker);
        },
        onEnd: (end) => {
          this.#ended(end);
        },
      },
    );
  }

  get isFree(): boolean {
    return !this.#order && this.#reason === undefined;
  }

  start(order: Order): void {
    this.#order = order;
    this.#seenMs = 0;
    this.#begun = this.#options.clock.now();
    this.#program.hold();
    try {
      this.#send(order.load());
    } catch (error) {
      // Something that cannot be sent: a mistake of ours, not of the worker.
      this.#finish(0)?.reject(error);
      return;
    }
    if (this.#isReady) this.#watch(order);
    else this.#at(START_MS, () => void this.stop('starved'));
  }

  #send({ work, parcels = [] }: Load): void {
    const fresh = parcels.filter(({ id }) => !this.#has.has(id));
    const forget = this.#remember(parcels);
    try {
      const contents = fresh.map(({ id, content }) => [id, content()] as const);
      const assignment: Assignment = { work, parcels: contents, forget };
      this.#program.send(assignment);
    } catch (error) {
      for (const { id } of fresh) this.#has.delete(id);
      throw error;
    }
  }

  async stop(reason: StopReason): Promise<void> {
    this.#reason ??= reason;
    await this.#program.stop();
  }

  #ended({ isMemory, cause }: ChildEnd): void {
    this.#reason ??= isMemory ? 'memory' : 'crash';
    const stopped = new WorkStopped(this.#reason, cause);
    this.#finish(stopped.isOwnFault ? this.#mostUsedMs() : this.#seenMs, stopped.isOwnFault)?.reject(stopped);
    this.#hooks.onEnd();
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'ready') {
      this.#isReady = true;
      this.#id = message.worker;
      this.#cpuBefore = message.cpuMs;
      this.#cancelWatch();
      if (this.#order && this.#reason === undefined) this.#watch(this.#order);
      return;
    }
    const usedMs = message.cpuMs - this.#cpuBefore;
    this.#cpuBefore = message.cpuMs;
    this.#finish(usedMs)?.resolve(message.answer);
  }

  /** Looks at the processor time whenever it may have been used up, which is never sooner than that time has passed. */
  #watch({ cpuMs }: Order): void {
    const { clock, cpuTimeOf } = this.#options;
    this.#begun = clock.now();
    const patienceMs = Math.max(MIN_PATIENCE_MS, PATIENCE * cpuMs);
    const look = (): void => {
      const passedMs = clock.now() - this.#begun;
      const total = this.#id === undefined ? undefined : cpuTimeOf(this.#id);
      const usedMs = total === undefined ? estimatedCpuMs(passedMs) : total - this.#cpuBefore;
      this.#seenMs = usedMs;
      if (usedMs >= cpuMs) void this.stop('time');
      else if (passedMs >= patienceMs) void this.stop('starved');
      else this.#at(Math.min(Math.max(cpuMs - usedMs, MIN_LOOK_MS), patienceMs - passedMs), look);
    };
    this.#at(cpuMs, look);
  }

  /** A worker that has ended does not report its processor time any more. */
  #mostUsedMs(): number {
    return Math.min(this.#order?.cpuMs ?? 0, this.#options.clock.now() - this.#begun);
  }

  #at(delayMs: number, fn: () => void): void {
    const { clock } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + delayMs, fn);
  }

  /** @returns ids that it forgets to make room, never those of these parcels */
  #remember(parcels: readonly SharedData[]): readonly string[] {
    const others = new Map(this.#has);
    for (const { id, isPassing = false, bytes = 0 } of parcels) {
      others.delete(id);
      this.#has.delete(id);
      this.#has.set(id, { isPassing, bytes });
    }
    let surplus = this.#has.size - MAX_PARCELS;
    let surplusBytes = [...this.#has.values()].reduce((sum, { bytes = 0 }) => sum + bytes, -MAX_PARCEL_BYTES);
    const forget = [...others].flatMap(([id, { isPassing, bytes = 0 }]) => {
      if (!isPassing && surplus <= 0 && surplusBytes <= 0) return [];
      surplus--;
      surplusBytes -= bytes;
      return [id];
    });
    for (const id of forget) this.#has.delete(id);
    return forget;
  }

  #finish(cpuMs: number, isStopped = false): Order | undefined {
    this.#cancelWatch();
    this.#program.release();
    const order = this.#order;
    this.#order = undefined;
    if (order) this.#hooks.onDone(order, { cpuMs, isStopped });
    return order;
  }
}
