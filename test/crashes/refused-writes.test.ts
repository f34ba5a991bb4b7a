/**
 * Every write of a story is rejected once, or loses its response although it took effect. The job must end as
 * usual, without a second one.
 */
import { startCluster, startControllers, type Cluster, type Controllers } from '../support/cluster.ts';
import { refusals, type Fault } from '../support/faults.ts';
import { stories } from '../support/stories.ts';
import { beginTrials, expectAsModel, playModel } from '../support/trials.ts';

/** Short stories run with every fault at every write, long ones with a different fault from write to write. */
const SHORT = 20;

const troubles = (writes: number): Fault[] =>
  Array.from({ length: writes }, (_, i) => i + 1).flatMap((nth) =>
    refusals.filter((_, i) => writes <= SHORT || (nth + i) % 3 === 0).map((what) => ({ what, nth })),
  );

describe('a write that is rejected once, or loses its response,', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let controllers: Controllers;

  before(async () => {
    cluster = await startCluster();
  });
  beforeEach(async () => {
    controllers = await startControllers(cluster);
  });
  // Also after a failure: two sets of controllers at once would fail everything that follows.
  afterEach(() => controllers.stop());
  after(() => cluster.stop());

  for (const story of stories) {
    it(`does not change the result: ${story.name}`, async () => {
      const model = await playModel(cluster, story, controllers);
      const trials = await beginTrials(cluster, story, controllers, troubles(model.writes));
      await expectAsModel(trials, story, model, controllers);
    });
  }
});
