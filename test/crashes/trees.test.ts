/**
 * The controllers are killed right before or right after each of their writes, and new ones take over. The final
 * landscape must be the same as without a crash: nothing is lost or duplicated. In between, upstream must be able to
 * take over, too.
 *
 * All crash points of a story run at once, each in a separate namespace: for the controllers, a namespace to which no
 * more requests are sent is one whose process has died.
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
    it(`between any two writes of ${story.name} does not change the result`, async () => {
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

/** A crash after a write is the same as one before the next write, so only the first write is tried both ways. */
const crashes = (writes: number): Fault[] => [
  { what: 'crash-before', nth: 1 },
  ...Array.from({ length: writes }, (_, i) => ({ what: 'crash-after' as const, nth: i + 1 })),
];

/** A run with better timing than the model may need fewer writes than the number of the crash. */
async function deadOrDone({ scene }: Trial, story: Story, { faults }: Controllers): Promise<void> {
  const done = story.end(scene).catch(() => {});
  await Promise.race([done, faults.struck(scene.ns)]);
}
