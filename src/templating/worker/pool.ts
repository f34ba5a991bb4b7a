/**
 * A pool of worker processes that run one piece of work at a time for all namespaces. They start on demand, do not
 * keep the process alive while idle, and are replaced when they are stopped; other work is not affected.
 */
import { FairQueue } from './fair-queue.ts';
import { WorkerProcess, WorkStopped, type Load, type Order, type WorkerOptions } from './worker-process.ts';

export interface PoolOptions extends WorkerOptions {
  /** Number of worker processes. */
  readonly size: number;
}

interface WorkOptions {
  /** The namespace that the work belongs to. */
  readonly namespace: string;
  /** Limit of processor time; the worker is stopped if it is exceeded. */
  readonly cpuMs: number;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #queue: FairQueue<Order>;
  readonly #workers = new Set<WorkerProcess>();
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.size);
  }

  /**
   * Runs work in a worker when it is the namespace's turn.
   * @param load called when a worker starts the work
   * @throws WorkStopped; the errors of `load`
   */
  run(load: () => Load, { namespace, cpuMs }: WorkOptions): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isClosed) reject(new WorkStopped('closed'));
      else this.#queue.add({ namespace, load, cpuMs, resolve, reject }, this.#now());
      this.#next();
    });
  }

  /** Stops all workers; running and waiting work is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const order of this.#queue.drain()) order.reject(new WorkStopped('closed'));
    await Promise.all([...this.#workers].map((worker) => worker.stop('closed')));
  }

  #next(): void {
    this.#moveToReady();
    for (let worker = this.#freeWorker(); worker; worker = this.#freeWorker()) {
      const order = this.#queue.take(this.#now());
      if (!order) return;
      worker().start(order);
    }
  }

  /** Gives a worker that has become free the work of one that is still starting, which takes seconds on a busy machine. */
  #moveToReady(): void {
    const ready = this.#readyWorker();
    if (!ready) return;
    for (const worker of this.#workers) {
      const order = worker.takeBack();
      if (order) {
        ready.start(order);
        return;
      }
    }
  }

  #readyWorker(): WorkerProcess | undefined {
    return [...this.#workers].find(({ isFree, isReady }) => isFree && isReady);
  }

  /** A worker for the next order; a new one is only started if there is an order. */
  #freeWorker(): (() => WorkerProcess) | undefined {
    const free = this.#readyWorker() ?? [...this.#workers].find(({ isFree }) => isFree);
    if (free) return () => free;
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
