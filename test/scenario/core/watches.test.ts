/** Watches that break during a job: missed events are found, and nothing happens twice. */
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
  // A broken watch is reopened after a growing pause, so each test has its own.
  beforeEach(async () => {
    controllers = await startControllers(cluster);
  });
  afterEach(() => controllers.stop());

  for (const story of stories) {
    it(`during a job do not disturb ${story.name}`, async () => {
      const model = await playModel(cluster, story, controllers);
      const nth = Math.ceil(model.writes / 2);
      const trials = await beginTrials(cluster, story, controllers, [{ what: 'cut-watches', nth }]);
      await expectAsModel(trials, story, model, controllers);
    });
  }

  it('while a deployer works do not hide its answer', async () => {
    const scene = await cluster.scene();
    await scene.create(root('web', { items: [fakeItem('app')] }));
    await scene.waiting('web', 'app');
    controllers.faults.cutWatches();
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
  });

  it('after their resource version has expired list again', async function () {
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
