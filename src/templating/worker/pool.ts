/**
 * Threads that do one piece of work at a time for all namespaces. They start at the first need, hold no process alive
 * while they idle, and a stopped one is replaced; work that was not its own never notices.
 */
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import { Thread, WorkStopped, type Load, type Order, type ThreadOptions } from './thread.ts';

export interface PoolOptions extends ThreadOptions, FairQueueOptions {}

export interface WorkOptions {
  /** Whose work it is. */
  readonly namespace: string;
  /** Processor time it may use; a thread that uses more is stopped. */
  readonly cpuMs: number;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #queue: FairQueue<Order>;
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options);
  }

  /**
   * Has work done by a thread, when it is the turn of its namespace.
   * @param load called when a thread takes it
   * @throws WorkStopped, and what `load` throws
   */
  run(load: () => Load, { namespace, cpuMs }: WorkOptions): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isClosed) reject(new WorkStopped('closed'));
      else this.#queue.add({ namespace, load, cpuMs, resolve, reject }, this.#now());
      this.#next();
    });
  }

  /** Stops all threads; what they were doing, and what waits for them, is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const order of this.#queue.drain()) order.reject(new WorkStopped('closed'));
    await Promise.all([...this.#threads].map((thread) => thread.stop('closed')));
  }

  #next(): void {
    for (let thread = this.#freeThread(); thread; thread = this.#freeThread()) {
      const order = this.#queue.take(this.#now());
      if (!order) return;
      thread().start(order);
    }
  }

  /** A thread for the next order, which is started only when there is one. */
  #freeThread(): (() => Thread) | undefined {
    for (const thread of this.#threads) if (thread.isFree) return () => thread;
    return this.#threads.size < this.#options.size ? () => this.#newThread() : undefined;
  }

  #newThread(): Thread {
    const thread: Thread = new Thread(this.#options, {
      onDone: ({ namespace }, cost) => {
        this.#queue.done(namespace, cost, this.#now());
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

  #now(): number {
    return this.#options.clock.now();
  }
}
