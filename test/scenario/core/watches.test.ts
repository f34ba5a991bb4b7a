/** Watches that break in the middle of a job: what happened meanwhile is found out, and nothing happens twice. */
import { expect } from 'chai';
import { startCluster, startControllers, type Cluster, type Controllers } from '../../support/cluster.ts';
import { dataObject, fakeItem, root } from '../../support/landscape.ts';
import { stories } from '../../support/stories.ts';
import { beginTrials, expectAsModel, playModel } from '../../support/trials.ts';
import { skip } from '../../support/skip.ts';

describe('watches that break', function () {
  this.timeout(30_000);
  let cluster: Cluster;
  let controllers: Controllers;

  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());
  // A watch that broke is opened again after a pause that grows, so each test has its own.
  beforeEach(async () => {
    controllers = await startControllers(cluster);
  });
  afterEach(() => controllers.stop());

  for (const story of stories) {
    it(`in the middle do not disturb ${story.name}`, async () => {
      const model = await playModel(cluster, story, controllers);
      const nth = Math.ceil(model.writes / 2);
      const trials = await beginTrials(cluster, story, controllers, [{ what: 'cut-watches', nth }]);
      await expectAsModel(trials, story, model, controllers);
    });
  }

  it('while a deployer works do not let its answer go unnoticed', async () => {
    const scene = await cluster.scene();
    await scene.create(root('web', { items: [fakeItem('app')] }));
    await scene.waiting('web', 'app');
    controllers.faults.cutWatches();
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
  });

  it('and have lost their place in history begin anew', async function () {
    const { server } = cluster;
    if (!server) skip(this, 'it reaches into the embedded server, and this is another one');
    const scene = await cluster.scene();
    await scene.create(root('web', { items: [fakeItem('app')] }));
    await scene.waiting('web', 'app');
    controllers.faults.cutWatches();
    await scene.answer('web', 'app');
    server.test.compact();
    await scene.finished('web', 'Succeeded');
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('do not make an import look as if it were missing', async () => {
    const scene = await cluster.scene();
    controllers.faults.cutWatches(['DataObject', 'Context']);
    await scene.create(dataObject('value', 'there'));
    await scene.create(root('taker', { takes: { value: 'value' } }));
    await scene.finished('taker', 'Succeeded');
  });
});
