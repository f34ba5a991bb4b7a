/**
 * Threads that do one piece of work at a time and can be stopped in the middle of it. They start at the first need,
 * hold no process alive while they idle, and a stopped one is replaced; work that was not its own never notices.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker, type ResourceLimits } from 'node:worker_threads';
import type { Clock } from '../../lib/clock.ts';

export interface PoolOptions {
  /** The module that the threads run; it answers each message with one. */
  readonly entry: URL;
  readonly size: number;
  readonly clock: Clock;
  /** Limit of a thread's heap. */
  readonly memoryMiB: number;
  /** Plain data that the threads find as `workerData`. */
  readonly data: unknown;
  /** How long a new thread may take to load its code, on top of the time for its first work. */
  readonly startMs: number;
}

/** Why a thread had to be stopped. */
export type StopReason = 'time' | 'memory' | 'crash' | 'closed';

/** Work that has no result because its thread was stopped. */
export class WorkStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason, cause?: unknown) {
    super(`the thread was stopped: ${reason}`, { cause });
    this.name = 'WorkStopped';
    this.reason = reason;
  }
}

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

interface Order {
  readonly work: unknown;
  readonly parcels: readonly Parcel[];
  readonly timeoutMs: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Parcels that a thread remembers. */
const MAX_PARCELS = 64;

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #queue: Order[] = [];
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Has work done by the next thread that is free.
   * @param timeoutMs time from its start; a thread that takes longer is stopped
   * @throws WorkStopped
   */
  run(work: unknown, { parcels = [], timeoutMs }: { parcels?: readonly Parcel[]; timeoutMs: number }) {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isClosed) reject(new WorkStopped('closed'));
      else this.#queue.push({ work, parcels, timeoutMs, resolve, reject });
      this.#next();
    });
  }

  /** Stops all threads; what they were doing, and what waits for them, is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const order of this.#queue.splice(0)) order.reject(new WorkStopped('closed'));
    await Promise.all([...this.#threads].map((thread) => thread.stop('closed')));
  }

  #next(): void {
    const order = this.#queue[0];
    const thread = order && this.#freeThread();
    if (!thread) return;
    this.#queue.shift();
    thread.start(order);
    this.#next();
  }

  #freeThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.isFree) return thread;
    if (this.#threads.size >= this.#options.size) return undefined;
    const thread: Thread = new Thread(this.#options, {
      onFree: () => {
        this.#next();
      },
      onEnd: () => {
        this.#threads.delete(thread);
        this.#next();
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}

class Thread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #hooks: { onFree(): void; onEnd(): void };
  /** Ids of parcels it has, those used last at the end, and whether each is passing. */
  readonly #has = new Map<string, boolean>();
  #order: Order | undefined;
  #cancelTimeout = (): void => undefined;
  #reason: StopReason | undefined;
  /** Time for loading the code; 0 when that is done. */
  #startMs: number;
  #error: Error | undefined;

  constructor(
    { entry, memoryMiB, clock, data, startMs }: PoolOptions,
    hooks: { onFree(): void; onEnd(): void },
  ) {
    this.#clock = clock;
    this.#startMs = startMs;
    this.#hooks = hooks;
    const resourceLimits: ResourceLimits = { maxOldGenerationSizeMb: memoryMiB, stackSizeMb: STACK_MIB };
    // Nothing of the process is handed down: no environment, no arguments, no input.
    this.#worker = new Worker(runnable(entry), { env: {}, argv: [], workerData: data, resourceLimits });
    this.#worker.unref();
    this.#worker.on('message', (answer: unknown) => {
      this.#finish()?.resolve(answer);
      this.#hooks.onFree();
    });
    this.#worker.on('error', (error: Error) => {
      this.#error = error;
    });
    this.#worker.on('exit', () => {
      const isMemory =
        (this.#error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const reason = this.#reason ?? (isMemory ? 'memory' : 'crash');
      this.#reason = reason;
      this.#finish()?.reject(new WorkStopped(reason, this.#error));
      this.#hooks.onEnd();
    });
  }

  get isFree(): boolean {
    return !this.#order && this.#reason === undefined && !this.#error;
  }

  start(order: Order): void {
    this.#order = order;
    this.#worker.ref();
    const fresh = order.parcels.filter(({ id }) => !this.#has.has(id));
    const forget = this.#remember(order.parcels);
    try {
      const parcels = fresh.map(({ id, content }) => [id, content()] as const);
      const assignment: Assignment = { work: order.work, parcels, forget };
      this.#worker.postMessage(assignment);
    } catch (error) {
      // Something that cannot be sent: a mistake of ours, not of the thread.
      for (const { id } of fresh) this.#has.delete(id);
      this.#finish()?.reject(error);
      return;
    }
    const deadline = this.#clock.now() + this.#startMs + order.timeoutMs;
    this.#startMs = 0;
    this.#cancelTimeout = this.#clock.at(deadline, () => void this.stop('time'));
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

  async stop(reason: StopReason): Promise<void> {
    this.#reason ??= reason;
    await this.#worker.terminate();
  }

  #finish(): Order | undefined {
    this.#cancelTimeout();
    this.#worker.unref();
    const order = this.#order;
    this.#order = undefined;
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
