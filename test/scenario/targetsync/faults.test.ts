import { expect } from 'chai';
import { targetSyncKind } from '../../../src/api/kinds/targetsync.ts';
import { useCluster } from '../../support/cluster.ts';
import { refusals } from '../../support/faults.ts';
import { Place, startSource, Syncs, type Source } from './landscape.ts';

/** Finalizer, a secret and a target for each of two, the access secret, status, annotation. */
const WRITES = 8;

describe('a target sync with faults', () => {
  const use = useCluster({ controllers: ['targetsync'], deployers: [] });
  let cluster: Source;
  before(async () => {
    cluster = await startSource();
  });
  after(() => cluster.close());

  async function given() {
    const scene = await use.scene();
    const source = await cluster.place();
    await Promise.all(['prod-1', 'prod-2'].map((name) => source.secret(name, { kubeconfig: name })));
    const here = new Place(scene.cluster.client, scene.ns);
    await here.secret('source-access', { kubeconfig: cluster.kubeconfig });
    const syncs = new Syncs(scene, source);
    const create = () => syncs.create('sync', { secretNameExpression: '*', createTargetToSource: true });
    return { scene, source, here, syncs, create };
  }

  for (const what of refusals) {
    it(`reaches the same end if any of its writes fails with "${what}"`, async function () {
      this.timeout(30_000);
      const nths = Array.from({ length: WRITES }, (_, i) => i + 1);
      await Promise.all(
        nths.map(async (nth) => {
          const { scene, here, syncs, create, source } = await given();
          const { faults } = use.controllers;
          faults.arm(scene.ns, { what, nth });
          await create();
          await faults.struck(scene.ns);
          await syncs.content('sync');
          await syncs.passed('sync');
          expect(await here.targets()).to.deep.equal([source.namespace, 'prod-1', 'prod-2'].sort());
          expect(await here.secrets()).to.deep.equal(['prod-1', 'prod-2', 'source-access']);
        }),
      );
    });

    it(`deletes everything if any of its deletions fails with "${what}"`, async function () {
      this.timeout(30_000);
      const nths = Array.from({ length: 6 }, (_, i) => i + 1);
      await Promise.all(
        nths.map(async (nth) => {
          const { scene, here, syncs, create } = await given();
          await create();
          await syncs.passed('sync');
          use.controllers.faults.arm(scene.ns, { what, nth });
          await scene.remove(targetSyncKind, 'sync');
          await scene.until('it is gone', () => !syncs.get('sync'));
          expect(await here.targets()).to.deep.equal([]);
          expect(await here.secrets()).to.deep.equal(['source-access']);
        }),
      );
    });
  }
});
