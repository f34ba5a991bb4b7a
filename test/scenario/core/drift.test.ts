/** The state of an installation after its job, when an item fails in a job of its own. */
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import type { Execution } from '../../../src/api/kinds/execution.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { child, fakeItem, stack } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { skip } from '../../support/skip.ts';

const driftOf = (object: View<Installation> | View<Execution> | undefined) =>
  object?.status?.conditions?.find(({ type }) => type === 'Drifted');

/** `stack` with one child and one item, whose deployer reconciles it again without a request. */
async function installed(scene: Scene): Promise<{ readonly child: string; readonly item: string }> {
  await scene.create(stack({ children: [child('a', { items: [fakeItem('app')] })] }));
  const { metadata } = await scene.until('a', () => scene.child('stack', 'a'));
  await scene.answer(metadata.name, 'app');
  await scene.finished('stack', 'Succeeded');
  return { child: metadata.name, item: scene.item(metadata.name, 'app')?.metadata.name ?? '' };
}

const ownJob = (scene: Scene, item: string, job: string, phase: string, message?: string) =>
  scene.patchStatus(deployItemKind, item, {
    jobID: job,
    jobIDFinished: job,
    phase,
    lastError: message === undefined ? null : { ...failure, message },
  });
const NOW = '2026-01-01T00:00:00Z';
const failure = { operation: 'deploy', reason: 'Apply', lastTransitionTime: NOW, lastUpdateTime: NOW };

describe('an item that fails after its job', () => {
  const here = useCluster();

  it('is reported with its reason on every installation up to the root, until it succeeds again', async () => {
    const scene = await here.scene();
    const { child: a, item } = await installed(scene);
    await ownJob(scene, item, 'own-1', 'Failed', 'quota exceeded');
    const told = await scene.until('the root tells', () => driftOf(scene.installation('stack')));
    expect(told).to.deep.include({
      status: 'True',
      reason: 'FailedAfterJob',
      message: `installation ${a}: execution ${a}: deploy item ${item}: quota exceeded`,
    });
    expect(scene.installation('stack')?.status?.phase, 'phases tell of jobs').to.equal('Succeeded');
    await ownJob(scene, item, 'own-2', 'Succeeded');
    await scene.until('the root is silent', () => !driftOf(scene.installation('stack')));
    expect(driftOf(scene.execution(a))).to.equal(undefined);
    expect(scene.jobs('stack')).to.have.length(1);
  });

  it('is no longer reported after the next job', async () => {
    const scene = await here.scene();
    const { child: a, item } = await installed(scene);
    await ownJob(scene, item, 'own-1', 'Failed', 'quota exceeded');
    await scene.until('the root tells', () => driftOf(scene.installation('stack')));
    await scene.operation('stack', 'reconcile');
    await scene.until('the next job', () => scene.jobs('stack').length === 2);
    await scene.answer(a, 'app');
    const end = await scene.until('its end', () => {
      const found = scene.installation('stack');
      return found?.status?.jobIDFinished === scene.jobs('stack')[1] ? found : undefined;
    });
    expect(end.status?.phase).to.equal('Succeeded');
    for (const object of [end, scene.installation(a), scene.execution(a)]) {
      expect(driftOf(object)).to.equal(undefined);
    }
  });

  it('costs a write and an event for each object above it, once', async function () {
    const { server } = here.cluster;
    if (!server) skip(this, 'the audit log of this server is not at hand');
    const scene = await here.scene();
    const { item } = await installed(scene);
    await scene.calm();
    const mark = server.audit.mark();
    await ownJob(scene, item, 'own-1', 'Failed', 'quota exceeded');
    await scene.until('the root tells', () => driftOf(scene.installation('stack')));
    await scene.calm();
    const { events } = server.audit.since(mark).by({ userAgent: 'espalier', namespace: scene.ns });
    const count = (resource: string) => events.filter((e) => e.objectRef?.resource === resource).length;
    expect([count('installations'), count('executions'), count('deployitems')]).to.deep.equal([2, 1, 0]);
    const quiet = server.audit.mark();
    await ownJob(scene, item, 'own-2', 'Failed', 'quota exceeded');
    await scene.calm();
    const again = server.audit.since(quiet).by({ userAgent: 'espalier', namespace: scene.ns }).events;
    expect(again.map((e) => `${e.verb} ${e.objectRef?.resource ?? ''}`)).to.deep.equal([]);
  });
});
