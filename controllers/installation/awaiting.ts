/** Describes what an installation waits for: objects below it, or siblings that it imports from. Pure. */
import { named, type Awaited, type WaitReason } from '../../src/machine/decision.ts';
import { obstacleAmong } from '../../src/machine/obstacles.ts';
import type { SubObject } from './job.ts';
import type { Snapshot } from './snapshot.ts';

interface Wait {
  readonly awaited: Awaited;
  readonly requeueAfterMs?: number;
}

/** The objects, or what holds up one of them. */
export function waitForObjects(
  { self, now }: Pick<Snapshot, 'self' | 'now'>,
  reason: WaitReason,
  objects: readonly SubObject[],
): Wait {
  const { obstacle, ...rest } = obstacleAmong(objects, self.status ?? {}, now);
  return { awaited: obstacle ?? { reason, objects: objects.map(named) }, ...rest };
}
