/**
 * The controllers are killed right before or right after each of their writes, and new ones take over. In the end the
 * landscape must be the one that an undisturbed run leaves behind: nothing lost, nothing twice. In between it must be one
 * that the original can go on with, should it be the one that takes over.
 *
 * All crash points of a story are tried at once, each in a namespace of its own: for the controllers a namespace in
 * which nothing is sent any more is one whose process has died.
 */
import { startCluster, startControllers, type Cluster, type Controllers } from '../support/cluster.ts';
import type { Fault } from '../support/faults.ts';
import { change, stories, type Story } from '../support/stories.ts';
import { expectOriginalGoesOn } from '../support/original-takes-over.ts';
import { beginTrials, expectAsModel, playModel, type Trial } from '../support/trials.ts';

describe('a crash of the controllers', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let running: Controllers | undefined;
  const start = async (): Promise<Controllers> => (running = await startControllers(cluster));
  const end = async (): Promise<void> => {
    const ending = running;
    running = undefined;
    await ending?.crash();
  };

  before(async () => {
    cluster = await startCluster();
  });
  // Also after a failure: two sets of controllers at once would fail everything that follows.
  afterEach(end);
  after(() => cluster.stop());

  for (const story of [...stories, change]) {
    it(`between any two writes of ${story.name} changes nothing in the end`, async () => {
      const first = await start();
      const model = await playModel(cluster, story, first);
      const trials = await beginTrials(cluster, story, first, crashes(model.writes));
      await Promise.all(trials.map((trial) => deadOrDone(trial, story, first)));
      await end();
      await expectOriginalGoesOn(trials, first);

      await start();
      await expectAsModel(trials, story, model, first);
    });
  }
});

/** To die after a write is to die before the next one, so the first of all is the only one to be tried both ways. */
const crashes = (writes: number): Fault[] => [
  { what: 'crash-before', nth: 1 },
  ...Array.from({ length: writes }, (_, i) => ({ what: 'crash-after' as const, nth: i + 1 })),
];

/** A run with more luck than the model may need fewer writes than it takes to the crash. */
async function deadOrDone({ scene }: Trial, story: Story, { faults }: Controllers): Promise<void> {
  const done = story.end(scene).catch(() => {});
  await Promise.race([done, faults.struck(scene.ns)]);
}
