/** Runs one story many times at once, each time in a separate namespace with a different fault. */
import type { Cluster, Controllers } from './cluster.ts';
import { nameOfWrite, type Fault } from './faults.ts';
import { differences, picture } from './picture.ts';
import type { Scene } from './scene.ts';
import type { Story } from './stories.ts';

export interface Trial {
  readonly scene: Scene;
  readonly fault: Fault;
}

export interface Model {
  /** The result of a run without faults. */
  readonly picture: Record<string, unknown>;
  /** The number of its writes. */
  readonly writes: number;
}

export async function playModel(cluster: Cluster, story: Story, { faults }: Controllers): Promise<Model> {
  const scene = await cluster.scene();
  await story.prepare(scene);
  const before = faults.writes(scene.ns).length;
  await story.begin(scene);
  await story.end(scene);
  return { picture: await picture(scene), writes: faults.writes(scene.ns).length - before };
}

/** Prepares a scene for each fault, arms it, and starts the story in all of them. */
export async function beginTrials(
  cluster: Cluster,
  story: Story,
  controllers: Controllers,
  troubles: readonly Fault[],
): Promise<readonly Trial[]> {
  const trials = await Promise.all(
    troubles.map(async (fault) => {
      const scene = await cluster.scene();
      await story.prepare(scene);
      return { scene, fault };
    }),
  );
  for (const { scene, fault } of trials) controllers.faults.arm(scene.ns, fault);
  await Promise.all(trials.map(({ scene }) => story.begin(scene)));
  return trials;
}

/**
 * Waits for the end of each trial and compares it with the model.
 * @throws Error with the differences of all trials together
 */
export async function expectAsModel(
  trials: readonly Trial[],
  story: Story,
  model: Model,
  { faults }: Controllers,
): Promise<void> {
  const problems: string[] = [];
  for (const trial of trials) {
    const { scene, fault } = trial;
    try {
      await story.end(scene);
      await untilPainted(scene, model.picture);
      expectJobs(scene, story);
    } catch (error) {
      const write = nameOfWrite(faults.hit(scene.ns));
      problems.push(`${fault.what} at write ${fault.nth}, ${write}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) {
    throw new Error(`${problems.length} of ${trials.length} trials ended badly:\n${problems.join('\n')}`);
  }
}

/** The last writes may still be in progress when the end is seen. */
async function untilPainted(scene: Scene, expected: Record<string, unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const different = differences(await picture(scene), expected);
    if (different.length === 0) return;
    if (attempt === 10) throw new Error(different.join('\n    '));
    await scene.calm();
  }
}

function expectJobs(scene: Scene, story: Story): void {
  for (const [name, wanted] of Object.entries(story.jobs)) {
    const ran = scene.jobs(name).length;
    if (ran === wanted) continue;
    throw new Error(`${name} had ${ran} jobs instead of ${wanted}; ${scene.overview()}`);
  }
}
