/** Creates and deletes trees for a product in another process, and waits for them by a watch. */
import { isFinished } from '../../../src/api/job.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Frame } from '../../../src/runtime/types.ts';
import { NAMESPACE, root, type ShapeName } from '../shapes.ts';

/** Which trees to create or delete, and how many of them at the same time; default: all. */
export interface Batch {
  readonly names: readonly string[];
  readonly atOnce?: number;
}

export interface Load {
  readonly client: Client;
  /** Creates roots of a shape and waits until all have succeeded. @returns milliseconds @throws if one fails */
  install(batch: Batch, shape: ShapeName): Promise<number>;
  /** Deletes roots and waits until they are deleted. @returns milliseconds */
  uninstall(batch: Batch): Promise<number>;
  /** Size of all objects that were created so far. */
  readonly bodyBytes: number;
  close(): Promise<void>;
}

/** The definitions of the kinds must exist. */
export async function openLoad(kubeconfig: string): Promise<Load> {
  const client = createClient(
    await connect({ kubeconfig: { text: kubeconfig }, userAgent: 'bench', clock, log }),
  );
  const roots = new Roots();
  const life = new AbortController();
  const watching = roots.follow(client, life.signal);
  let bodyBytes = 0;
  const timed = async ({ names, atOnce }: Batch, wanted: State, send: (name: string) => Promise<unknown>) => {
    const start = performance.now();
    await inTurn(names, atOnce ?? names.length, async (name) => {
      const reached = roots.until(name, wanted);
      await Promise.all([send(name), reached]);
    });
    return performance.now() - start;
  };
  return {
    client,
    install: (batch, shape) =>
      timed(batch, 'succeeded', (name) => {
        const object = root(name, shape);
        bodyBytes += Buffer.byteLength(JSON.stringify(object));
        return client.send({ verb: 'create', kind: installationKind, object });
      }),
    uninstall: (batch) =>
      timed(batch, 'deleted', (name) =>
        client.send({ verb: 'delete', kind: installationKind, key: `${NAMESPACE}/${name}` }),
      ),
    get bodyBytes() {
      return bodyBytes;
    },
    async close() {
      life.abort(new Error('measured'));
      await watching;
      await client.close();
    },
  };
}

type State = 'succeeded' | 'deleted';
interface Waiter {
  readonly wanted: State;
  resolve(): void;
  reject(error: Error): void;
}

/** Who waits for which root. */
class Roots {
  readonly #waiters = new Map<string, Waiter>();

  until(name: string, wanted: State): Promise<void> {
    return new Promise((resolve, reject) => this.#waiters.set(name, { wanted, resolve, reject }));
  }

  /** A server ends watches some time after a definition was changed, which the start of another version does. */
  async follow(client: Client, signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) await this.#watch(client, signal);
    } catch (error) {
      if (!signal.aborted) this.#rejectAll(error as Error);
    }
  }

  async #watch(client: Client, signal: AbortSignal): Promise<void> {
    const query = { namespace: NAMESPACE, sendInitialEvents: true };
    const present = new Set<string>();
    for await (const frame of client.watch(installationKind, query, signal)) {
      if ('object' in frame) present.add(frame.object.metadata.name);
      this.#on(frame);
      if (frame.type === 'BOOKMARK' && frame.initialEventsEnd) this.#settleAbsent(present);
    }
  }

  /** Roots that were deleted while there was no watch. */
  #settleAbsent(present: ReadonlySet<string>): void {
    for (const [name, waiter] of this.#waiters)
      if (waiter.wanted === 'deleted' && !present.has(name)) this.#settle(waiter, name, 'deleted');
  }

  #on(frame: Frame<Installation>): void {
    if (!('object' in frame)) return;
    const { metadata, status } = frame.object;
    const waiter = this.#waiters.get(metadata.name);
    if (waiter === undefined) return;
    if (frame.type === 'DELETED') this.#settle(waiter, metadata.name, 'deleted');
    else if (status?.phase !== undefined && status.jobID !== undefined && isFinished(frame.object))
      this.#settle(waiter, metadata.name, status.phase === 'Succeeded' ? 'succeeded' : status.phase);
  }

  #settle(waiter: Waiter, name: string, state: string): void {
    const { wanted } = waiter;
    // A root that is deleted is still finished at first.
    if (state !== wanted && wanted === 'deleted') return;
    this.#waiters.delete(name);
    if (state === wanted) waiter.resolve();
    else waiter.reject(new Error(`tree ${name} ended in state ${state}`));
  }

  #rejectAll(error: Error): void {
    for (const waiter of this.#waiters.values()) waiter.reject(error);
    this.#waiters.clear();
  }
}

/** Does the work for each name, for at most `atOnce` at the same time. */
async function inTurn(
  names: readonly string[],
  atOnce: number,
  work: (name: string) => Promise<unknown>,
): Promise<void> {
  const left = names.values();
  await Promise.all(
    Array.from({ length: Math.min(atOnce, names.length) }, async () => {
      for (const name of left) await work(name);
    }),
  );
}
