/**
 * Measures the duration of jobs while it watches them, since the times in a status have whole seconds only.
 *
 * For a job that was already running when the watch started, the times in its status are used.
 */
import { isFinished } from '../../api/job.ts';
import type { Collected } from './collect.ts';
import type { Node, TreeObject } from './tree.ts';

interface Observation {
  /** undefined if the start was not observed. */
  readonly startedAt: number | undefined;
  endedAt: number | undefined;
}

export class Stopwatch {
  readonly #observations = new Map<string, Observation>();
  #isFirstObservation = true;

  /** @param now a monotonic clock, in milliseconds */
  observe({ installations, executions, deployItems }: Collected, now: number): void {
    for (const object of [...installations, ...executions, ...deployItems]) {
      const key = keyOf(object);
      if (key === undefined) continue;
      const hasEnded = isFinished(object);
      const observation = this.#observations.get(key);
      if (!observation) {
        const isMissed = this.#isFirstObservation || hasEnded;
        this.#observations.set(key, {
          startedAt: isMissed ? undefined : now,
          endedAt: hasEnded ? now : undefined,
        });
      } else if (hasEnded) observation.endedAt ??= now;
    }
    this.#isFirstObservation = false;
  }

  /** Milliseconds since the start of the node's current job; undefined if the start was not observed. */
  elapsed(node: Node, now: number): number | undefined {
    const key = keyOf(node.object);
    const observation = key === undefined ? undefined : this.#observations.get(key);
    if (observation?.startedAt === undefined) return undefined;
    return (observation.endedAt ?? now) - observation.startedAt;
  }
}

const keyOf = ({ metadata, status }: TreeObject): string | undefined =>
  status?.jobID ? `${metadata.uid ?? ''}/${status.jobID}` : undefined;
