/** The workers of a controller: each takes a key, handles it, and takes the next one, until the queue is closed. */
import type { Clock } from '../../lib/clock.ts';
import type { Pace } from '../../lib/pace.ts';
import type { ControllerMetrics } from '../../observability/controller-metrics.ts';
import { namespaceOf } from '../keys.ts';
import { createQueue, type WorkItem, type WorkQueue } from '../queue/queue.ts';
import { Throttle, type TotalLimit } from '../queue/throttle.ts';
import type { Settings } from './spec.ts';
import type { Obj } from '../types.ts';

/** Waits until the controller may start another reconcile. @returns false if it was stopped first */
export type MayStart = () => Promise<boolean>;

interface WorkersPorts {
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly maxConcurrent: number;
  readonly totalLimit: TotalLimit | undefined;
  /** When a reconcile leaves its worker to others; undefined: never. */
  readonly freesWorkerAfterMs: number | undefined;
  /** @param mayStart to be called before the reconcile; absent without a total limit */
  handle(item: WorkItem, mayStart: MayStart | undefined): Promise<void>;
  onError(item: WorkItem, error: unknown): void;
}

export class Workers {
  readonly #ports: WorkersPorts;
  readonly #throttle: Throttle | undefined;
  #running: Promise<void>[] = [];
  /** Reconciles that have left their workers. */
  readonly #slow = new Set<Promise<void>>();

  constructor(ports: WorkersPorts) {
    this.#ports = ports;
    this.#throttle = ports.totalLimit && new Throttle(ports.clock, ports.totalLimit);
  }

  start(): void {
    this.#running = Array.from({ length: this.#ports.maxConcurrent }, () => this.#work());
  }

  /** Resolves when the last reconcile has ended; the queue must be closed. */
  async stop(): Promise<void> {
    this.#throttle?.stop();
    await Promise.all(this.#running);
    await Promise.all(this.#slow);
  }

  async #work(): Promise<void> {
    const { queue, pace } = this.#ports;
    for (;;) {
      const leave = await this.#throttle?.enter();
      const item = await queue.take();
      if (!item) {
        leave?.();
        return;
      }
      const rest = pace.rest();
      if (rest) await rest;
      await this.#untilSlow(item, this.#handle(item, leave));
    }
  }

  /** Never rejects. */
  async #handle(item: WorkItem, leave: (() => void) | undefined): Promise<void> {
    try {
      await this.#ports.handle(item, leave && (() => this.#mayStart(leave)));
    } catch (error) {
      this.#ports.onError(item, error);
    } finally {
      leave?.();
      item.end();
    }
  }

  /** Resolves when the reconcile has ended, or has left its worker. */
  #untilSlow(item: WorkItem, done: Promise<void>): Promise<void> {
    const { clock, freesWorkerAfterMs } = this.#ports;
    if (freesWorkerAfterMs === undefined) return done;
    return new Promise((resolve) => {
      const cancel = clock.at(clock.now() + freesWorkerAfterMs, () => {
        if (!item.leaveWorker()) return;
        this.#slow.add(done);
        resolve();
      });
      void done.then(() => {
        cancel();
        this.#slow.delete(done);
        resolve();
      });
    });
  }

  async #mayStart(leave: () => void): Promise<boolean> {
    const hasToken = (await this.#throttle?.takeToken()) ?? true;
    leave();
    return hasToken;
  }
}

/** The queue of a controller, with its metrics and its fairness. */
export function queueOf<P extends Obj>(
  { maxConcurrent: workers, fairness }: Settings<P>,
  clock: Clock,
  metrics: () => Pick<ControllerMetrics, 'added' | 'waited'>,
): WorkQueue {
  const observer = {
    added: () => {
      metrics().added();
    },
    taken: (ms: number) => {
      metrics().waited(ms / 1_000);
    },
  };
  return createQueue(clock, observer, fairness === 'namespace' ? { workers, namespaceOf } : undefined);
}
