/**
 * Processes that do one piece of work at a time for all namespaces. They start at the first need, hold no process alive
 * while they idle, and a stopped one is replaced; work that was not its own never notices.
 */
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import { WorkerProcess, WorkStopped, type Load, type Order, type WorkerOptions } from './worker-process.ts';

export interface PoolOptions extends WorkerOptions, FairQueueOptions {}

interface WorkOptions {
  /** Whose work it is. */
  readonly namespace: string;
  /** Processor time it may use; a worker that uses more is stopped. */
  readonly cpuMs: number;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #queue: FairQueue<Order>;
  readonly #workers = new Set<WorkerProcess>();
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options);
  }

  /**
   * Has work done by a worker, when it is the turn of its namespace.
   * @param load called when a worker takes it
   * @throws WorkStopped, and what `load` throws
   */
  run(load: () => Load, { namespace, cpuMs }: WorkOptions): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isClosed) reject(new WorkStopped('closed'));
      else this.#queue.add({ namespace, load, cpuMs, resolve, reject }, this.#now());
      this.#next();
    });
  }

  /** Stops all workers; what they were doing, and what waits for them, is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const order of this.#queue.drain()) order.reject(new WorkStopped('closed'));
    await Promise.all([...this.#workers].map((worker) => worker.stop('closed')));
  }

  #next(): void {
    for (let worker = this.#freeWorker(); worker; worker = this.#freeWorker()) {
      const order = this.#queue.take(this.#now());
      if (!order) return;
      worker().start(order);
    }
  }

  /** A worker for the next order, which is started only when there is one. */
  #freeWorker(): (() => WorkerProcess) | undefined {
    for (const worker of this.#workers) if (worker.isFree) return () => worker;
    return this.#workers.size < this.#options.size ? () => this.#newWorker() : undefined;
  }

  #newWorker(): WorkerProcess {
    const worker: WorkerProcess = new WorkerProcess(this.#options, {
      onDone: ({ namespace }, cost) => {
        this.#queue.done(namespace, cost, this.#now());
        this.#next();
      },
      onEnd: () => {
        this.#workers.delete(worker);
        this.#next();
      },
    });
    this.#workers.add(worker);
    return worker;
  }

  #now(): number {
    return this.#options.clock.now();
  }
}
