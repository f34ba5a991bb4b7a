/** The worker's side: reports that it is ready, then runs one piece of work after the other. */
import { listenToParent, sendToParent } from '../../lib/child-channel.ts';
import { ownThread } from './cpu-time.ts';
import type { Assignment, FromWorker } from './worker-process.ts';

interface ServeOptions {
  /** Never throws. @param parcel returns shared data by id */
  readonly answer: (work: unknown, parcel: (id: string) => unknown) => unknown;
  /** Processor time of this worker in ms. */
  readonly cpuMs: () => number;
}

export function serve({ answer, cpuMs }: ServeOptions): void {
  const parcels = new Map<string, unknown>();
  const send = (message: FromWorker): void => {
    sendToParent(message);
  };
  listenToParent((message) => {
    const { work, parcels: fresh, forget } = message as Assignment;
    for (const id of forget) parcels.delete(id);
    for (const [id, content] of fresh) parcels.set(id, content);
    const result = answer(work, (id) => parcels.get(id));
    send({ kind: 'answer', answer: result, cpuMs: cpuMs() });
  });
  send({ kind: 'ready', worker: ownThread(), cpuMs: cpuMs() });
}
