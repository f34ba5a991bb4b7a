/** Sub-installations that are in no template any more, and the wait for those that are. */
import { expect } from 'chai';
import { hasFinishedJob, isBeingDeleted, isFinished } from '../../../src/api/job.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  blueprint,
  child,
  childA,
  childB,
  fakeItem,
  mockItem,
  root,
  stack,
} from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

/** A child with an item whose deployer is the test. */
const worker = (name: string) => child(name, { items: [fakeItem('app')] });

const nameOf = (scene: Scene, template: string): string =>
  scene.children('stack', template)[0]?.metadata.name ?? '';

/** `stack` with children that have finished their first job. */
async function settled(scene: Scene, names: readonly string[]): Promise<void> {
  await scene.create(stack({ children: names.map(worker) }));
  for (const name of names) {
    await scene.until(`child ${name}`, () => scene.child('stack', name));
    await scene.answer(nameOf(scene, name), 'app');
  }
  await scene.finished('stack', 'Succeeded');
}

const keep = (scene: Scene, names: readonly string[]): Promise<unknown> =>
  scene.setBlueprint('stack', blueprint({ children: names.map(worker) }));

/** Starts a job whose blueprint has only these children. */
async function shrink(scene: Scene, names: readonly string[]): Promise<string | undefined> {
  await keep(scene, names);
  const after = scene.installation('stack')?.status?.jobID;
  await scene.operation('stack', 'reconcile');
  return after;
}

describe('sub-installations', () => {
  const here = useCluster();

  it('CORE-36: an obsolete one is deleted in Init, even if a sibling imports from it', async () => {
    const scene = await here.scene();
    await settled(scene, ['a', 'b']);
    const b = nameOf(scene, 'b');
    await shrink(scene, ['a']);
    const marked = await scene.until('b is going', () => {
      const found = scene.installation(b);
      return found && isBeingDeleted(found.metadata) ? found : undefined;
    });
    expect(marked.metadata.annotations?.[annotations.deleteIgnoreSuccessors]).to.equal('true');
    const parent = await scene.busy('stack', 'CleanupOrphaned', 'OrphanedSubinstsStillDeleting');
    expect(parent.status?.subInstCache?.orphanedSubs).to.deep.equal([b]);
    expect(parent.status?.subInstCache?.activeSubs?.map((s) => s.specName)).to.deep.equal(['a']);
  });

  it('CORE-37: it gets the job of its parent, which starts the others only after it is gone', async () => {
    const scene = await here.scene();
    await settled(scene, ['a', 'b']);
    const [a, b] = [nameOf(scene, 'a'), nameOf(scene, 'b')];
    const after = await shrink(scene, ['a']);
    await scene.waiting(b, 'app');
    const { status } = await scene.busy('stack', 'CleanupOrphaned');
    expect(scene.installation(b)?.status?.jobID).to.equal(status?.jobID);
    await scene.calm();
    expect(scene.installation(a)?.status?.jobID).to.equal(after);
    await scene.uninstall(b, 'app');
    await scene.gone(installationKind, b);
    await scene.answer(a, 'app');
    const end = await scene.finished('stack', 'Succeeded', { after });
    expect(end.status?.subInstCache?.orphanedSubs ?? []).to.deep.equal([]);
  });

  it('CORE-38: the parent waits until all of them are deleted', async () => {
    const scene = await here.scene();
    await settled(scene, ['a', 'b', 'c']);
    const [b, c] = [nameOf(scene, 'b'), nameOf(scene, 'c')];
    const after = await shrink(scene, ['a']);
    await scene.answer(b, 'app', 'DeleteFailed');
    await scene.waiting(c, 'app');
    await scene.until('b has failed', () => scene.installation(b)?.status?.phase === 'DeleteFailed');
    await scene.calm();
    expect(scene.installation('stack')?.status?.phase).to.equal('CleanupOrphaned');
    await scene.answer(c, 'app', 'DeleteFailed');
    await scene.finished('stack', 'Failed', { after });
  });

  it('CORE-39: if none of them can be deleted the parent fails, and the others are not started', async () => {
    const scene = await here.scene();
    await settled(scene, ['a', 'b', 'c']);
    const after = await shrink(scene, ['a']);
    for (const name of ['b', 'c']) await scene.answer(nameOf(scene, name), 'app', 'DeleteFailed');
    const { status } = await scene.finished('stack', 'Failed', { after });
    expect(status?.lastError?.reason).to.equal('AllOrphanedSubinstallationsFailed');
    expect(scene.child('stack', 'a')?.status?.jobID).to.equal(after);
  });

  it('CORE-40: one that could not be deleted in an earlier job is retried by the next', async () => {
    const scene = await here.scene();
    await settled(scene, ['a', 'b']);
    const [a, b] = [nameOf(scene, 'a'), nameOf(scene, 'b')];
    const first = await shrink(scene, ['a']);
    await scene.answer(b, 'app', 'DeleteFailed');
    const failed = await scene.finished('stack', 'Failed', { after: first });
    await scene.operation('stack', 'reconcile');
    await scene.uninstall(b, 'app');
    await scene.answer(a, 'app');
    await scene.finished('stack', 'Succeeded', { after: failed.status?.jobID });
    expect(scene.installation(b)).to.equal(undefined);
  });

  it('CORE-40: one that was obsolete in a failed job is recreated if the next blueprint has it again', async () => {
    const scene = await here.scene();
    await settled(scene, ['a', 'b']);
    const old = nameOf(scene, 'b');
    const broken = { deployExecutions: [{ name: 'd', type: 'GoTemplate', template: '{{' }] };
    await scene.setBlueprint('stack', blueprint({ children: [worker('a')], more: broken }));
    const failed = await scene.again('stack', 'Failed');
    expect(isBeingDeleted(scene.installation(old)!.metadata)).to.equal(true);
    await keep(scene, ['a', 'b']);
    await scene.operation('stack', 'reconcile');
    await scene.uninstall(old, 'app');
    const b = await scene.until('a new b', () => scene.child('stack', 'b')?.metadata.name);
    await scene.answer(nameOf(scene, 'a'), 'app');
    await scene.answer(b, 'app');
    await scene.finished('stack', 'Succeeded', { after: failed.status?.jobID });
    expect(b).not.to.equal(old);
    expect(scene.children('stack')).to.have.length(2);
  });

  it('CORE-41: one with a new name takes over the exports of the old one', async () => {
    const scene = await here.scene();
    await scene.create(stack());
    await scene.finished('stack', 'Succeeded');
    const renamed = child('z', { gives: { out: 'link' } });
    await scene.setBlueprint('stack', blueprint({ children: [renamed, childB()] }));
    await scene.again('stack', 'Succeeded');
    expect(scene.children('stack', 'a')).to.have.length(0);
    const z = scene.child('stack', 'z');
    expect(z?.status?.phase).to.equal('Succeeded');
    // The export of z, and the import of b.
    const stored = [...scene.cluster.world.dataObjects.list(scene.ns)];
    expect(stored.map(({ data }) => data)).to.deep.equal(['z-out', 'z-out']);
    const owners = stored.map(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid).join());
    expect(owners).to.have.members([z?.metadata.uid, scene.child('stack', 'b')?.metadata.uid]);
  });

  it('CORE-41: one is deleted although a remaining sibling imports from it', async () => {
    const scene = await here.scene();
    await scene.create(stack());
    await scene.finished('stack', 'Succeeded');
    const a = nameOf(scene, 'a');
    await scene.setBlueprint(
      'stack',
      blueprint({ children: [childB(), child('c', { gives: { out: 'link' } })] }),
    );
    await scene.operation('stack', 'reconcile');
    await scene.gone(installationKind, a);
    expect(scene.child('stack', 'b')).to.not.equal(undefined);
  });

  it('CORE-42: after a conflict while jobs are handed down, each gets the job exactly once', async () => {
    const scene = await here.scene();
    here.controllers.faults.arm(scene.ns, {
      what: 'conflict',
      nth: 2,
      matches: (write) =>
        write.verb === 'merge' &&
        write.sub === 'status' &&
        /\/[ab]-/.test(write.key) &&
        'observedGeneration' in (write.body as { status: object }).status,
    });
    await scene.create(stack());
    await scene.finished('stack', 'Succeeded');
    expect(here.controllers.faults.hit(scene.ns)).to.not.equal(undefined);
    for (const name of ['a', 'b']) expect(scene.jobs(nameOf(scene, name))).to.have.length(1);
  });

  it('CORE-43: a parent whose first child has finished waits for the second without a request', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a'), worker('b')] }));
    await scene.until('both children', () => scene.child('stack', 'a') && scene.child('stack', 'b'));
    const [a, b] = [nameOf(scene, 'a'), nameOf(scene, 'b')];
    await scene.answer(a, 'app');
    await scene.until('a has finished', () => {
      const found = scene.installation(a);
      return found?.status?.phase === 'Succeeded' && isFinished(found);
    });
    await scene.waiting(b, 'app');
    await scene.calm();
    const seen = scene.seen(installationKind, 'stack').length;
    await scene.calm();
    expect(scene.installation('stack')?.status?.phase).to.equal('Progressing');
    expect(scene.seen(installationKind, 'stack')).to.have.length(seen);
    await scene.answer(b, 'app');
    await scene.finished('stack', 'Succeeded');
  });

  it('CORE-44: a failed child fails its parent, which names it and its error', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a'), worker('b')] }));
    await scene.until('both children', () => scene.child('stack', 'a') && scene.child('stack', 'b'));
    const [a, b] = [nameOf(scene, 'a'), nameOf(scene, 'b')];
    const lastError = {
      operation: 'test',
      reason: 'test',
      message: 'the disk is full',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      lastUpdateTime: '2026-01-01T00:00:00Z',
    };
    await scene.answer(b, 'app', 'Failed', { lastError });
    await scene.answer(a, 'app');
    const { status } = await scene.finished('stack', 'Failed');
    expect(status?.lastError?.message).to.match(new RegExp(`^Failed sub-installation\\(s\\): ${b}`));
    expect(status?.lastError?.message).to.contain('the disk is full');
    expect(status?.lastError?.message).to.not.contain(a);
  });

  it('CORE-45: a parent names the failed child and the failed execution', async () => {
    const scene = await here.scene();
    const failing = [mockItem('app', { phase: 'Failed' })];
    await scene.create(stack({ items: failing, children: [child('a', { items: failing })] }));
    const { status } = await scene.finished('stack', 'Failed');
    expect(status?.lastError?.message).to.match(
      new RegExp(`^Failed sub-installation\\(s\\): ${nameOf(scene, 'a')}.*; Execution is failed`),
    );
  });

  it('CORE-46: an execution that is deleted fails the job', async () => {
    const scene = await here.scene();
    await scene.create(root('web', { items: [fakeItem('app')] }));
    await scene.waiting('web', 'app');
    await scene.busy('web', 'Progressing');
    await scene.force(executionKind, 'web');
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError?.message).to.contain('Execution is missing');
  });

  it('CORE-46: a child that is deleted fails the job', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a'), worker('b')] }));
    await scene.until('both children', () => scene.child('stack', 'a') && scene.child('stack', 'b'));
    const [a, b] = [nameOf(scene, 'a'), nameOf(scene, 'b')];
    await scene.waiting(b, 'app');
    await scene.force(installationKind, b);
    await scene.answer(a, 'app');
    const { status } = await scene.finished('stack', 'Failed');
    expect(status?.lastError?.message).to.contain(`Missing sub-installation(s): ${b}`);
  });

  it('a parent always finishes after everything below it', async () => {
    const scene = await here.scene();
    const deep = child('mid', {
      items: [mockItem('m')],
      children: [childA({ items: [mockItem('x')] }), childB()],
    });
    await scene.create(root('top', { items: [mockItem('t')], children: [deep] }));
    const { status } = await scene.finished('top', 'Succeeded');
    const jobID = status?.jobID ?? '';
    const history = scene.cluster.history(scene.ns).map(({ object }) => object);
    const rank = (name: string, kind: string): number =>
      history.findIndex(
        (o) => o.kind === kind && o.metadata.name === name && hasFinishedJob(o as never, jobID),
      );
    const mid = scene.child('top', 'mid')?.metadata.name ?? '';
    const below = scene.children(mid).map((c) => rank(c.metadata.name, 'Installation'));
    expect(Math.max(...below)).to.be.lessThan(rank(mid, 'Installation'));
    expect(rank(mid, 'Installation')).to.be.lessThan(rank('top', 'Installation'));
  });
});
