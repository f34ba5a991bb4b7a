/**
 * Controllers that cannot start yet because a kind cannot be read: its CRD is missing, or a permission. The others do
 * not wait for them. The caches keep trying, so a late controller starts when its kinds can be read.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { ManagedController } from '../controller/controller.ts';
import type { Caches } from '../types.ts';

/** How long the start waits for caches that report a problem. Permissions may be granted a moment after the start. */
const PATIENCE_MS = 10_000;
const CHECK_MS = 500;

interface LatePorts {
  readonly caches: Caches;
  readonly clock: Clock;
  readonly log: Logger;
  /** The manager runs: late controllers may start. */
  isRunning(): boolean;
}

export class LateControllers {
  readonly #ports: LatePorts;
  readonly #late = new Set<ManagedController>();

  constructor(ports: LatePorts) {
    this.#ports = ports;
  }

  has(controller: ManagedController): boolean {
    return this.#late.has(controller);
  }

  /** Names of the controllers that have not started. */
  get names(): string[] {
    return [...this.#late].map(({ name }) => name);
  }

  /** Resolves when the controller is synced, or is late because a cache has reported a problem for 10 s. */
  async start(controller: ManagedController, signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#ports;
    const { name } = controller;
    let isOver = false;
    const synced = controller.startSources(signal).then(
      () => {
        isOver = true;
        if (!this.#late.delete(controller) || !this.#ports.isRunning()) return;
        controller.startWorkers();
        log.info({ controller: name }, 'late controller started');
      },
      (error: unknown) => {
        isOver = true;
        if (signal.aborted) return;
        this.#late.add(controller);
        log.error({ controller: name, err: error }, 'controller not started, a source failed');
      },
    );
    const impatient = new Promise<void>((resolve) => {
      const beganAt = clock.now();
      const check = (): void => {
        if (isOver || signal.aborted) {
          resolve();
          return;
        }
        const problems = this.#problems();
        if (clock.now() - beganAt < PATIENCE_MS || problems.length === 0) {
          clock.at(clock.now() + CHECK_MS, check);
          return;
        }
        this.#late.add(controller);
        log.warn({ controller: name, problems }, 'controller waits for kinds that cannot be read');
        resolve();
      };
      clock.at(beganAt + CHECK_MS, check);
    });
    await Promise.race([synced, impatient]);
    signal.throwIfAborted();
  }

  #problems(): string[] {
    return [...this.#ports.caches.all()].flatMap(({ name, isSynced, problem }) =>
      isSynced || problem === undefined ? [] : [`${name}: ${problem}`],
    );
  }
}
