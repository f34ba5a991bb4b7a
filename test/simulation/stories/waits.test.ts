/** Stories about waits: they cost next to nothing, end by themselves, and a user can always end them. */
import { expect } from 'chai';
import { annotations } from '../../../src/api/labels.ts';
import { kinds } from '../cluster/objects.ts';
import { outOf } from '../landscape/model.ts';
import { Scene, isAtWork, item, node } from './scene.ts';
import { story } from './story.ts';

const giver = (behaviour: 'ok' | 'hangs' | 'slow') =>
  node('r1', { gives: true, items: [item('i1', { behaviour, looks: 3 })] });
const taker = () => node('r2', { takes: [outOf('r1')], items: [item('i1')] });

describe('waiting', function () {
  this.timeout(60_000);

  story('a root that waits for another one is not reconciled over and over', async (seed) => {
    const scene = new Scene(seed, [giver('hangs'), taker()]);
    await scene.begin();
    await scene.until(
      'the taker waits',
      () => scene.inst('r2')?.status?.lastError?.reason === 'AllPredecessorsFinished',
    );
    let requests = 0;
    const { network } = scene.simulation;
    const { onRequest } = network;
    network.onRequest = (sent) => {
      if (sent.kind === 'Installation' && sent.verb !== 'watch') requests++;
      onRequest(sent);
    };
    await scene.simulation.for(90_000);
    expect(scene.phase('r2')).to.equal('Init');
    expect(requests).to.be.at.most(6);
  });

  story('roots with cyclic imports end instead of waiting for each other', async (seed) => {
    const roots = [
      node('r1', { gives: true, takes: [outOf('r2')] }),
      node('r2', { gives: true, takes: [outOf('r1')] }),
    ];
    const scene = new Scene(seed, roots);
    await scene.install();
    expect([scene.phase('r1'), scene.phase('r2')]).to.include('Failed');
    for (const root of roots) scene.user.deleteRoot(root);
    await scene.simulation.rest();
    expect(scene.simulation.server.list(kinds.installation)).to.be.empty;
  });

  story('a root that waits in Init can be interrupted', async (seed) => {
    const scene = new Scene(seed, [giver('hangs'), taker()]);
    await scene.begin();
    await scene.untilPhase('r2', 'Init');
    await scene.until('it waits', () => scene.inst('r2')?.status?.lastError !== undefined);
    scene.user.annotate('r2', { [annotations.operation]: 'interrupt' });
    await scene.until('r2 ends', () => scene.phase('r2') === 'Failed');
    expect(isAtWork(scene.inst('r1')!), 'the one it waited for goes on').to.be.true;
    expect(scene.jobs('r2')).to.equal(1);
  });

  story('a root that waits in Init can be deleted', async (seed) => {
    const scene = new Scene(seed, [giver('hangs'), taker()]);
    await scene.begin();
    await scene.until(
      'it waits',
      () => scene.inst('r2')?.status?.lastError?.reason === 'AllPredecessorsFinished',
    );
    scene.user.deleteRoot(scene.root('r2'));
    await scene.until('r2 is gone', () => scene.inst('r2') === undefined);
    expect(isAtWork(scene.inst('r1')!)).to.be.true;
  });

  story('a successor waits in Completing while its predecessor runs again', async (seed) => {
    const slow = (looks: number) => [item('i1', { behaviour: 'slow', looks })];
    const roots = [
      node('r1', { gives: true, items: slow(4) }),
      node('r2', { takes: [outOf('r1')], items: slow(1) }),
    ];
    const scene = new Scene(seed, roots, { isLagging: false });
    await scene.install();
    scene.user.annotate('r2', { [annotations.operation]: 'reconcile' });
    await scene.untilPhase('r2', 'Progressing');
    // The values stay the same, so the successor is not out of date at the end.
    scene.user.annotate('r1', { [annotations.operation]: 'reconcile' });
    await scene.untilPhase('r2', 'Completing');
    expect(isAtWork(scene.inst('r1')!), 'the successor was quicker').to.be.true;
    await scene.simulation.rest();
    expect(scene.phase('r1')).to.equal('Succeeded');
    expect(scene.phase('r2')).to.equal('Succeeded');
    const failed = scene.simulation.server
      .since(kinds.installation, 0)
      .filter(({ object }) => object.metadata.name === 'r2' && object.status?.['phase'] === 'Failed');
    expect(failed, 'no job of the successor has failed').to.be.empty;
  });
});
