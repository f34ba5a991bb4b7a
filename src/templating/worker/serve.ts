/** The worker's side: reports that it is ready, then runs one piece of work after the other. */
import { listenToParent, sendToParent } from '../../lib/child-channel.ts';
import { ownThread } from './cpu-time.ts';
import type { Assignment, FromWorker } from './worker-process.ts';

interface ServeOptions {
  /** Never throws. @param sharedData returns the data of an id */
  readonly answer: (work: unknown, sharedData: (id: string) => unknown) => unknown;
  /** Processor time of this worker in ms. */
  readonly cpuMs: () => number;
}

export function serve({ answer, cpuMs }: ServeOptions): void {
  const shared = new Map<string, unknown>();
  const send = (message: FromWorker): void => {
    sendToParent(message);
  };
  listenToParent((message) => {
    const { work, shared: fresh, forget } = message as Assignment;
    for (const id of forget) shared.delete(id);
    for (const [id, content] of fresh) shared.set(id, content);
    const result = answer(work, (id) => shared.get(id));
    send({ kind: 'answer', answer: result, cpuMs: cpuMs() });
  });
  send({ kind: 'ready', worker: ownThread(), cpuMs: cpuMs() });
}
