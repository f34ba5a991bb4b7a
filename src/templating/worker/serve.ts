/** The side of a thread: tells when it is ready and who it is, then does one piece of work after another. */
import { parentPort } from 'node:worker_threads';
import { ownThread } from './cpu-time.ts';
import type { Assignment, FromThread } from './thread.ts';

export interface ServeOptions {
  /** Never throws. @param parcel what the work shares with others, by id */
  readonly answer: (work: unknown, parcel: (id: string) => unknown) => unknown;
  /** Processor time of this thread in ms. */
  readonly cpuMs: () => number;
}

export function serve({ answer, cpuMs }: ServeOptions): void {
  const parcels = new Map<string, unknown>();
  const send = (message: FromThread): void => parentPort?.postMessage(message);
  parentPort?.on('message', ({ work, parcels: fresh, forget }: Assignment) => {
    for (const id of forget) parcels.delete(id);
    for (const [id, content] of fresh) parcels.set(id, content);
    const result = answer(work, (id) => parcels.get(id));
    send({ kind: 'answer', answer: result, cpuMs: cpuMs() });
  });
  send({ kind: 'ready', thread: ownThread(), cpuMs: cpuMs() });
}
