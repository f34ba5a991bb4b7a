/**
 * Times jobs by watching them, since the times in a status have whole seconds only.
 *
 * A job that was already under way when the watching began cannot be timed; its status must do.
 */
import { isFinished } from '../../api/job.ts';
import type { Collected } from './collect.ts';
import type { Node, TreeObject } from './tree.ts';

interface Sighting {
  /** Undefined when the beginning was missed. */
  readonly startedAt: number | undefined;
  endedAt: number | undefined;
}

export class Stopwatch {
  readonly #sightings = new Map<string, Sighting>();
  #isFirstLook = true;

  /** @param now any clock that only goes forward, in milliseconds */
  observe({ installations, executions, deployItems }: Collected, now: number): void {
    for (const object of [...installations, ...executions, ...deployItems]) {
      const key = keyOf(object);
      if (key === undefined) continue;
      const hasEnded = isFinished(object);
      const sighting = this.#sightings.get(key);
      if (!sighting) {
        const isMissed = this.#isFirstLook || hasEnded;
        this.#sightings.set(key, {
          startedAt: isMissed ? undefined : now,
          endedAt: hasEnded ? now : undefined,
        });
      } else if (hasEnded) sighting.endedAt ??= now;
    }
    this.#isFirstLook = false;
  }

  /** Milliseconds the node's present job has taken so far; undefined when it was not seen from the beginning. */
  elapsed(node: Node, now: number): number | undefined {
    const key = keyOf(node.object);
    const sighting = key === undefined ? undefined : this.#sightings.get(key);
    if (sighting?.startedAt === undefined) return undefined;
    return (sighting.endedAt ?? now) - sighting.startedAt;
  }
}

const keyOf = ({ metadata, status }: TreeObject): string | undefined =>
  status?.jobID ? `${metadata.uid ?? ''}/${status.jobID}` : undefined;
