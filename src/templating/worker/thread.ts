/**
 * One thread that does one piece of work at a time and can be stopped in the middle of it. What counts against its work
 * is the processor time it has used; only a thread that gets none for long is stopped by the time that has passed.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Worker, type ResourceLimits } from 'node:worker_threads';
import type { Clock } from '../../lib/clock.ts';
import { estimatedCpuMs } from './cpu-time.ts';
import type { Cost } from './fair-queue.ts';

export interface ThreadOptions {
  /** The module that the threads run; it calls `serve`. */
  readonly entry: URL;
  readonly clock: Clock;
  /** Processor time of a thread in ms since its start; undefined where it cannot be told. */
  readonly cpuTimeOf: (thread: string) => number | undefined;
  /** Limit of a thread's heap. */
  readonly memoryMiB: number;
  /** Plain data that the threads find as `workerData`. */
  readonly data: unknown;
}

/** Why a thread had to be stopped; `starved`: it got too little of the processor to tell whether its work is too long. */
export type StopReason = 'time' | 'memory' | 'crash' | 'closed' | 'starved';

/** Work that has no result because its thread was stopped. */
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
  time: 'the thread was stopped: time',
  memory: 'the thread was stopped: memory',
  crash: 'the thread was stopped: crash',
  closed: 'the thread was stopped: closed',
  starved:
    'the thread of the template was stopped because the machine left it hardly any processor time; it is tried again',
};

/** Data that several pieces of work share, by an id that never means anything else. */
export interface Parcel {
  readonly id: string;
  /** Called for each thread that has not had it yet. */
  readonly content: () => unknown;
  /** Large, and soon of no use: a thread forgets it with the first work that does without. */
  readonly isPassing?: boolean;
}

/** What a thread is sent. */
export interface Assignment {
  readonly work: unknown;
  readonly parcels: readonly (readonly [id: string, content: unknown])[];
  /** Ids of parcels that will not be needed any more. */
  readonly forget: readonly string[];
}

/** What a thread sends, with the processor time it has used since its start. */
export type FromThread =
  | { readonly kind: 'ready'; readonly thread: string | undefined; readonly cpuMs: number }
  | { readonly kind: 'answer'; readonly answer: unknown; readonly cpuMs: number };

/** Work as it is sent, and what it shares with other work. */
export interface Load {
  readonly work: unknown;
  readonly parcels?: readonly Parcel[];
}

export interface Order {
  /** Whose work it is. */
  readonly namespace: string;
  /** Called when a thread takes the work: what is packed takes memory, and many may wait. */
  readonly load: () => Load;
  /** Processor time it may use. */
  readonly cpuMs: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

export interface ThreadHooks {
  /** The order has ended; the thread may have, too. */
  onDone(order: Order, cost: Cost): void;
  onEnd(): void;
}

/** Parcels that a thread remembers. */
const MAX_PARCELS = 64;
/** How long a thread may take to load its code. */
const START_MS = 60_000;
/** How much longer than its processor time a piece of work may last, and how long at least. */
const PATIENCE = 6;
const MIN_PATIENCE_MS = 60_000;
/** Between two looks at the processor time. */
const MIN_LOOK_MS = 20;

export class Thread {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  readonly #hooks: ThreadHooks;
  /** Ids of parcels it has, those used last at the end, and whether each is passing. */
  readonly #has = new Map<string, boolean>();
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
  #error: Error | undefined;

  constructor(options: ThreadOptions, hooks: ThreadHooks) {
    this.#options = options;
    this.#hooks = hooks;
    const { entry, memoryMiB, data } = options;
    const resourceLimits: ResourceLimits = { maxOldGenerationSizeMb: memoryMiB, stackSizeMb: STACK_MIB };
    // With this flag V8 gives each thread as much heap as the process, whatever its limits; the main thread has its heap already.
    setFlagsFromString('--max-old-space-size=0');
    // Nothing of the process is handed down: no environment, no arguments, no input.
    this.#worker = new Worker(runnable(entry), { env: {}, argv: [], workerData: data, resourceLimits });
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => {
      this.#receive(message);
    });
    this.#worker.on('error', (error: Error) => {
      this.#error = error;
    });
    this.#worker.on('exit', () => {
      const isMemory =
        (this.#error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#reason ??= isMemory ? 'memory' : 'crash';
      const stopped = new WorkStopped(this.#reason, this.#error);
      this.#finish(stopped.isOwnFault ? this.#mostUsedMs() : this.#seenMs, stopped.isOwnFault)?.reject(
        stopped,
      );
      this.#hooks.onEnd();
    });
  }

  get isFree(): boolean {
    return !this.#order && this.#reason === undefined && !this.#error;
  }

  start(order: Order): void {
    this.#order = order;
    this.#seenMs = 0;
    this.#begun = this.#options.clock.now();
    this.#worker.ref();
    try {
      this.#send(order.load());
    } catch (error) {
      // Something that cannot be sent: a mistake of ours, not of the thread.
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
      this.#worker.postMessage(assignment);
    } catch (error) {
      for (const { id } of fresh) this.#has.delete(id);
      throw error;
    }
  }

  async stop(reason: StopReason): Promise<void> {
    this.#reason ??= reason;
    await this.#worker.terminate();
  }

  #receive(message: FromThread): void {
    if (message.kind === 'ready') {
      this.#isReady = true;
      this.#id = message.thread;
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

  /** A thread that has ended does not tell any more what it has used. */
  #mostUsedMs(): number {
    return Math.min(this.#order?.cpuMs ?? 0, this.#options.clock.now() - this.#begun);
  }

  #at(delayMs: number, fn: () => void): void {
    const { clock } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + delayMs, fn);
  }

  /** @returns ids of what it forgets for that, which is nothing of these */
  #remember(parcels: readonly Parcel[]): readonly string[] {
    const others = new Map(this.#has);
    for (const { id, isPassing = false } of parcels) {
      others.delete(id);
      this.#has.delete(id);
      this.#has.set(id, isPassing);
    }
    const surplus = this.#has.size - MAX_PARCELS;
    const forget = [...others].flatMap(([id, isPassing], i) => (isPassing || i < surplus ? [id] : []));
    for (const id of forget) this.#has.delete(id);
    return forget;
  }

  #finish(cpuMs: number, isStopped = false): Order | undefined {
    this.#cancelWatch();
    this.#worker.unref();
    const order = this.#order;
    this.#order = undefined;
    if (order) this.#hooks.onDone(order, { cpuMs, isStopped });
    return order;
  }
}

/** As much as the main thread of other programs has; recursion is limited by the engines. */
const STACK_MIB = 4;

/** Sources, as tests run them, need a loader that a thread does not inherit. */
function runnable(entry: URL): URL {
  if (!entry.pathname.endsWith('.ts')) return entry;
  const loader = createRequire(entry).resolve('tsx/esm/api').replace(/cjs$/, 'mjs');
  const code = `import { register } from '${pathToFileURL(loader).href}'; register(); await import('${entry.href}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
