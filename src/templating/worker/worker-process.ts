/**
 * A process that runs one piece of work at a time and can be stopped at any moment. The limit applies to the processor
 * time that the work has used; elapsed time stops only a process that gets no processor time for long.
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
  /** JSON that each worker receives at its start. */
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

/** Data that several jobs share, by an id that always means the same data. */
export interface SharedData {
  readonly id: string;
  /** Called for each worker that does not have the data yet. */
  readonly content: () => unknown;
  /** Large and used briefly: a worker drops it with the first job that does not need it. */
  readonly isPassing?: boolean;
  /** Approximate memory that it needs in a worker; default: almost none. */
  readonly bytes?: number;
}

/** A message to a worker. */
export interface Assignment {
  readonly work: unknown;
  readonly shared: readonly (readonly [id: string, content: unknown])[];
  /** Ids of shared data that is no longer needed. */
  readonly forget: readonly string[];
}

/** A message from a worker, with the processor time it has used since its start. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly worker: string | undefined; readonly cpuMs: number }
  | { readonly kind: 'answer'; readonly answer: unknown; readonly cpuMs: number };

/** Work as it is sent, and the data that it shares with other work. */
export interface Load {
  readonly work: unknown;
  readonly shared?: readonly SharedData[];
}

export interface Order {
  /** The namespace of the work. */
  readonly namespace: string;
  /** Called when a worker starts the work: serialised work needs memory, and many may wait. */
  readonly load: () => Load;
  /** Limit of processor time. */
  readonly cpuMs: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

interface WorkerHooks {
  /** The order has ended, perhaps together with the worker. */
  onDone(order: Order, cost: Cost): void;
  onEnd(): void;
}

/** Number and bytes of shared data that a worker keeps: its memory is needed for its work. */
const MAX_SHARED = 64;
const MAX_SHARED_BYTES = 16 * 2 ** 20;
/** How long a worker may take to load its code. */
const START_MS = 60_000;
/** Elapsed time that work may take in addition to its processor time, and the minimum. */
const PATIENCE = 6;
const MIN_PATIENCE_MS = 60_000;
/** Interval between two checks of the processor time. */
const MIN_CHECK_MS = 20;

export class WorkerProcess {
  readonly #program: ChildProgram;
  readonly #options: WorkerOptions;
  readonly #hooks: WorkerHooks;
  /** Ids of the shared data that it has, most recently used last. */
  readonly #has = new Map<string, Pick<SharedData, 'isPassing' | 'bytes'>>();
  #order: Order | undefined;
  #cancelWatch = (): void => undefined;
  #reason: StopReason | undefined;
  #isReady = false;
  #id: string | undefined;
  /** Processor time before the current order. */
  #cpuBefore = 0;
  /** Processor time of the current order at the last check. */
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

  /** Whether it has loaded its code. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Sends the order when the worker is ready. */
  start(order: Order): void {
    this.#order = order;
    this.#seenMs = 0;
    this.#begun = this.#options.clock.now();
    this.#program.hold();
    if (this.#isReady) this.#begin(order);
    else this.#at(START_MS, () => void this.stop('starved'));
  }

  /** Releases the order that waits until the worker is ready, for another worker. */
  takeBack(): Order | undefined {
    const order = this.#order;
    if (!order || this.#isReady || this.#reason !== undefined) return undefined;
    this.#cancelWatch();
    this.#program.release();
    this.#order = undefined;
    return order;
  }

  #begin(order: Order): void {
    try {
      this.#send(order.load());
    } catch (error) {
      // Something that cannot be serialised: a bug of ours, not of the worker.
      this.#finish(0)?.reject(error);
      return;
    }
    this.#watch(order);
  }

  #send({ work, shared = [] }: Load): void {
    const fresh = shared.filter(({ id }) => !this.#has.has(id));
    const forget = this.#remember(shared);
    try {
      const contents = fresh.map(({ id, content }) => [id, content()] as const);
      const assignment: Assignment = { work, shared: contents, forget };
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
      if (this.#order && this.#reason === undefined) this.#begin(this.#order);
      return;
    }
    const usedMs = message.cpuMs - this.#cpuBefore;
    this.#cpuBefore = message.cpuMs;
    this.#finish(usedMs)?.resolve(message.answer);
  }

  /** Checks the processor time when it may have been used up, which is never before that time has elapsed. */
  #watch({ cpuMs }: Order): void {
    const { clock, cpuTimeOf } = this.#options;
    this.#begun = clock.now();
    const patienceMs = Math.max(MIN_PATIENCE_MS, PATIENCE * cpuMs);
    const check = (): void => {
      const passedMs = clock.now() - this.#begun;
      const total = this.#id === undefined ? undefined : cpuTimeOf(this.#id);
      const usedMs = total === undefined ? estimatedCpuMs(passedMs) : total - this.#cpuBefore;
      this.#seenMs = usedMs;
      if (usedMs >= cpuMs) void this.stop('time');
      else if (passedMs >= patienceMs) void this.stop('starved');
      else this.#at(Math.min(Math.max(cpuMs - usedMs, MIN_CHECK_MS), patienceMs - passedMs), check);
    };
    this.#at(cpuMs, check);
  }

  /** A worker that has ended no longer reports its processor time. */
  #mostUsedMs(): number {
    return Math.min(this.#order?.cpuMs ?? 0, this.#options.clock.now() - this.#begun);
  }

  #at(delayMs: number, fn: () => void): void {
    const { clock } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + delayMs, fn);
  }

  /** @returns ids of data that it drops to free memory, never of these */
  #remember(shared: readonly SharedData[]): readonly string[] {
    const others = new Map(this.#has);
    for (const { id, isPassing = false, bytes = 0 } of shared) {
      others.delete(id);
      this.#has.delete(id);
      this.#has.set(id, { isPassing, bytes });
    }
    let surplus = this.#has.size - MAX_SHARED;
    let surplusBytes = [...this.#has.values()].reduce((sum, { bytes = 0 }) => sum + bytes, -MAX_SHARED_BYTES);
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
