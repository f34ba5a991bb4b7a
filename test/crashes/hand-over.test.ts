/**
 * A job of upstream that is interrupted after any of its writes is finished by our controllers: each test is one
 * write, in the order in which upstream makes them.
 */
import { expect } from 'chai';
import { labels } from '../../src/api/labels.ts';
import { startCluster, startControllers, type Cluster, type Controllers } from '../support/cluster.ts';
import { change, install, uninstall, type OriginalWrite } from '../support/original-writes.ts';
import type { Scene } from '../support/scene.ts';

describe('our controllers finish a job that upstream left off when', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  let controllers: Controllers;
  const scenes = new Map<OriginalWrite, Scene>();

  before(async function () {
    this.timeout(120_000);
    cluster = await startCluster();
    const cutOffAfter = async (writes: readonly OriginalWrite[], count: number): Promise<void> => {
      const scene = await cluster.scene();
      for (const { make } of writes.slice(0, count)) await make(scene);
      scenes.set(writes[count - 1] as OriginalWrite, scene);
    };
    for (let count = 1; count <= install.length; count++) await cutOffAfter(install, count);
    for (let count = 1; count <= change.length; count++) {
      await cutOffAfter([...install, ...change], install.length + count);
    }
    for (let count = 1; count <= uninstall.length; count++) {
      await cutOffAfter([...install, ...uninstall], install.length + count);
    }
    controllers = await startControllers(cluster);
  });
  after(async () => {
    await controllers.stop();
    await cluster.stop();
  });
  const sceneOf = (write: OriginalWrite): Scene => scenes.get(write) as Scene;

  for (const [i, write] of install.entries()) {
    it(write.title, async () => {
      const scene = sceneOf(write);
      const end = await scene.finished('web', 'Succeeded');
      const hadJob = i >= install.findIndex(({ title }) => title === 'the job id was set');
      expect(scene.jobs('web')).to.have.length(1);
      if (hadJob) expect(end.status?.jobID).to.equal('j1');
      expect(end.status?.lastError).to.equal(undefined);
      expect(scene.items('web').map(({ status: s }) => s?.phase)).to.deep.equal(['Succeeded']);
    });
  }
  for (const [i, write] of change.entries()) {
    it(write.title, async () => {
      const scene = sceneOf(write);
      const isAskedFor = i > 0;
      await scene.finished('web', 'Succeeded', { after: isAskedFor ? 'j1' : undefined });
      const hadJob = i >= change.findIndex(({ title }) => title === 'the job id of the change was set');
      expect(scene.jobs('web')).to.have.length(isAskedFor ? 2 : 1);
      if (hadJob) expect(scene.jobs('web')).to.deep.equal(['j1', 'j2']);
      const items = scene
        .items('web')
        .map(({ metadata, status: s }) => [metadata.labels?.[labels.executionName], s?.phase]);
      expect(items).to.deep.equal([[isAskedFor ? 'other' : 'app', 'Succeeded']]);
    });
  }
  for (const [i, write] of uninstall.entries()) {
    it(write.title, async () => {
      const scene = sceneOf(write);
      await scene.empty();
      const jobs = scene.jobs('web');
      expect(jobs).to.have.length(2);
      if (i > 0) expect(jobs).to.deep.equal(['j1', 'j2']);
    });
  }
});
