/**
 * Controllers that cannot start yet because a kind cannot be read: its CRD is missing, or a permission. The others do
 * not wait for them. The caches keep trying, so a late controller starts when its kinds can be read.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { ManagedController } from '../controller/controller.ts';
import type { Caches } from '../types.ts';

/** How long the start waits for caches that report a problem. Permissions may be granted a moment after the start. */
const PATIENCE_MS = 10_000;
/** After that, time between two checks of a start that is slow without a problem. */
const CHECK_MS = 500;
/** Pause after a failed request. */
const RETRY_MS = 1_000;

interface LatePorts {
  readonly caches: Caches;
  readonly clock: Clock;
  readonly log: Logger;
  /** The manager runs: late controllers may start. */
  isRunning(): boolean;
  /** If replicas share the work: brings the caches up to date, which other replicas may have changed. */
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
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
    const synced = controller.startSources(signal).then(
      async () => {
        if (!this.#late.has(controller)) return;
        if (this.#ports.isRunning()) await this.#catchUp(signal);
        this.#late.delete(controller);
        if (!this.#ports.isRunning()) return;
        controller.startWorkers();
        log.info({ controller: name }, 'late controller started');
      },
      (error: unknown) => {
        if (signal.aborted) return;
        this.#late.add(controller);
        log.error({ controller: name, err: error }, 'controller not started, a source failed');
      },
    );
    let cancel = (): void => undefined;
    const impatient = new Promise<void>((resolve) => {
      const check = (): void => {
        const problems = this.#problems();
        if (problems.length === 0) {
          cancel = clock.at(clock.now() + CHECK_MS, check);
          return;
        }
        this.#late.add(controller);
        log.warn({ controller: name, problems }, 'controller waits for kinds that cannot be read');
        resolve();
      };
      cancel = clock.at(clock.now() + PATIENCE_MS, check);
    });
    await Promise.race([synced, impatient]);
    cancel();
    signal.throwIfAborted();
  }

  /** Its caches may have been filled before this process became responsible for objects. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    const { catchUp, clock, log } = this.#ports;
    for (;;) {
      try {
        await catchUp(signal);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ err: String(error) }, 'reading the writes of other replicas failed');
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }

  #problems(): string[] {
    return [...this.#ports.caches.all()].flatMap(({ name, isSynced, problem }) =>
      isSynced || problem === undefined ? [] : [`${name}: ${problem}`],
    );
  }
}
