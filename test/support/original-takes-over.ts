/** Checks that upstream could continue with what killed controllers have left behind. */
import { isFinished } from '../../src/api/job.ts';
import type { Controllers } from './cluster.ts';
import { nameOfWrite } from './faults.ts';
import { missed, overlooked, refused } from './original.ts';
import type { Scene } from './scene.ts';
import type { Trial } from './trials.ts';

/** @throws Error with everything upstream would do wrong, for all trials together */
export async function expectOriginalGoesOn(trials: readonly Trial[], { faults }: Controllers): Promise<void> {
  const problems: string[] = [];
  for (const { scene, fault } of trials) {
    await scene.inStep();
    const write = nameOfWrite(faults.hit(scene.ns));
    problems.push(
      ...problemsIn(scene).map((what) => `${fault.what} at write ${fault.nth}, ${write}: ${what}`),
    );
  }
  if (problems.length > 0) throw new Error(`the original cannot go on:\n${problems.join('\n')}`);
}

function problemsIn(scene: Scene): readonly string[] {
  const { executions } = scene.cluster.world;
  const parents = [...scene.installations, ...executions.list(scene.ns)];
  return parents.flatMap((parent) => {
    const { name, uid } = parent.metadata;
    const below = [...parents, ...scene.cluster.world.deployItems.list(scene.ns)].filter((object) =>
      object.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid),
    );
    const phase = `${parent.kind} ${name} in ${parent.status?.phase ?? 'no phase'}`;
    return [
      ...overlooked(parent, below).map((object) => `${phase}: it does not know of ${object}`),
      ...(isFinished(parent) ? [] : missed(parent, below)).map((object) => `${phase}: it misses ${object}`),
      ...refused(parent).map((what) => `${phase}: ${what}`),
    ];
  });
}
