/** The status reports what a job waits for, until the job continues. */
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import type { Execution } from '../../../src/api/kinds/execution.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { child, childA, childB, consumer, fakeItem, producer, stack, web } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { systemClock } from '../../../src/lib/clock.ts';

type Waiter = View<Installation> | View<Execution> | undefined;
const waitOf = (object: Waiter) => object?.status?.conditions?.find(({ type }) => type === 'Waiting');
const worker = (name: string) => child(name, { items: [fakeItem('app')] });
const ago = (ms: number): string => `${new Date(systemClock.wall() - ms).toISOString().slice(0, 19)}Z`;

/** Makes it look as if an item had received its job half a minute ago. */
async function neglect(scene: Scene, execution: string): Promise<string> {
  const { metadata } = await scene.waiting(execution, 'app');
  await scene.patchStatus(deployItemKind, metadata.name, { jobIDGenerationTime: ago(30_000) });
  return metadata.name;
}

describe('a job that waits', () => {
  const here = useCluster();

  it('lists what it waits for, without finished objects, and nothing at the end', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a'), worker('b')] }));
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const { metadata } = await scene.until(name, () => scene.child('stack', name));
        await scene.waiting(metadata.name, 'app');
        return metadata.name;
      }),
    );
    const told = (names: readonly (string | undefined)[]) =>
      scene.until(`waits for ${names.join(', ')}`, () => {
        const message = waitOf(scene.installation('stack'))?.message;
        return message && names.every((n) => message.includes(`installation ${n ?? ''}`))
          ? message
          : undefined;
      });
    await told([a, b]);
    expect(waitOf(scene.installation('stack'))).to.deep.include({ status: 'True', reason: 'JobsUnfinished' });
    expect(waitOf(scene.execution(a ?? ''))?.message).to.contain(`deploy item ${a ?? ''}-app`);
    await scene.answer(a ?? '', 'app');
    await scene.until(
      'a is off the list',
      () => !waitOf(scene.installation('stack'))?.message.includes(a ?? ''),
    );
    await told([b]);
    await scene.answer(b ?? '', 'app');
    const end = await scene.finished('stack', 'Succeeded');
    for (const object of [end, scene.installation(a ?? ''), scene.execution(b ?? '')]) {
      expect(waitOf(object)).to.equal(undefined);
    }
  });

  it('names the predecessors that have to run first, and no longer names them after an interrupt', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.waiting('producer', 'app');
    await scene.create(consumer());
    await scene.until('the wait is told', () => waitOf(scene.installation('consumer')));
    expect(waitOf(scene.installation('consumer'))).to.deep.include({
      reason: 'PredecessorsUnfinished',
      message: 'waits for installation producer',
    });
    await scene.operation('consumer', 'interrupt');
    expect(waitOf(await scene.finished('consumer', 'Failed'))).to.equal(undefined);
  });

  it('names the roots that import from a root that is being deleted', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer());
    await scene.finished('consumer', 'Succeeded');
    await scene.delete('producer');
    const wait = await scene.until('the wait is told', () => waitOf(scene.installation('producer')));
    expect(wait).to.deep.include({
      reason: 'SuccessorsExist',
      message: 'waits for installation consumer',
    });
  });
});

describe('an error that a deployer retries', () => {
  const here = useCluster();
  const retrying = (message: string, more: object = {}) => ({
    phase: 'Progressing',
    lastReconcileTime: ago(0),
    lastError: {
      operation: 'o',
      reason: 'R',
      message,
      lastTransitionTime: ago(60_000),
      lastUpdateTime: ago(0),
      ...more,
    },
  });
  const messages = (scene: Scene, ...names: readonly string[]): readonly (string | undefined)[] =>
    names.map(
      (name) => scene.installation(name)?.status?.conditions?.find(({ type }) => type === 'Ready')?.message,
    );

  it('is shown by every object above, word for word, without a write for each of its messages', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a')] }));
    const { metadata } = await scene.until('a', () => scene.child('stack', 'a'));
    const item = await scene.waiting(metadata.name, 'app');
    const { name } = item.metadata;
    await scene.patchStatus(deployItemKind, name, retrying('no chart 0'));
    const text = `deploy item ${name}: no chart 0`;
    await scene.until('the root shows it', () => messages(scene, 'stack')[0] === text);
    expect(messages(scene, metadata.name)).to.deep.equal([text]);
    expect(waitOf(scene.execution(metadata.name))).to.deep.include({
      reason: 'ReconcileError',
      message: text,
    });

    const versions = () => scene.seen(installationKind, 'stack').length;
    const before = versions();
    for (let i = 1; i <= 20; i++)
      await scene.patchStatus(deployItemKind, name, retrying(`no chart ${String(i)}`));
    await scene.until('the last message is shown', () => messages(scene, 'stack')[0]?.endsWith('chart 20'), {
      ms: 40_000,
    });
    expect(versions() - before).to.be.at.most(4);
    await scene.answer(metadata.name, 'app');
    const end = await scene.finished('stack', 'Succeeded');
    expect(waitOf(end)).to.equal(undefined);
  });
});

describe('an error below a predecessor', () => {
  const here = useCluster();

  it('is shown by the siblings that wait for it, however far away, until it is over', async () => {
    const scene = await here.scene();
    const last = child('c', { takes: { in: 'second' } });
    const middle = childB({ gives: { out: 'second' } });
    await scene.create(stack({ children: [childA({ items: [fakeItem('app')] }), middle, last] }));
    const children = await Promise.all(
      ['a', 'b', 'c'].map(
        async (name) => (await scene.until(name, () => scene.child('stack', name))).metadata.name,
      ),
    );
    const [a = '', ...waiting] = children;
    const { metadata } = await scene.waiting(a, 'app');
    await scene.until('both wait', () =>
      waiting.every((name) => waitOf(scene.installation(name))?.reason === 'PredecessorsUnfinished'),
    );
    const lastError = {
      operation: 'o',
      reason: 'R',
      message: 'no chart',
      lastTransitionTime: ago(60_000),
      lastUpdateTime: ago(0),
    };
    const status = { phase: 'Progressing', lastReconcileTime: ago(0), lastError };
    await scene.patchStatus(deployItemKind, metadata.name, status);
    const text = `deploy item ${metadata.name}: no chart`;
    const readyOf = (name: string) =>
      scene.installation(name)?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
    await scene.until('all show it', () => ['stack', ...children].every((name) => readyOf(name) === text), {
      ms: 40_000,
    });
    for (const name of waiting)
      expect(waitOf(scene.installation(name))).to.deep.include({ reason: 'ReconcileError', message: text });
    await scene.answer(a, 'app');
    const end = await scene.finished('stack', 'Succeeded');
    expect(waitOf(end)).to.equal(undefined);
    for (const name of waiting) expect(waitOf(scene.installation(name))).to.equal(undefined);
  });
});

describe('an item that no deployer picks up', () => {
  const here = useCluster();
  const type = 'test.example/fake';

  it('is reported after a short while, up to the root, with its type and the types that have a deployer', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a')] }));
    const { metadata } = await scene.until('a', () => scene.child('stack', 'a'));
    const item = await neglect(scene, metadata.name);
    const { message } = await scene.until('the root tells', () => {
      const wait = waitOf(scene.installation('stack'));
      return wait?.reason === 'NotTakenUp' ? wait : undefined;
    });
    expect(message).to.equal(
      `deploy item ${item} is not picked up: ` +
        `no deployer in this process handles type ${type} (only landscaper.gardener.cloud/mock), and no deployer has ever picked up an item of this type`,
    );
    expect(waitOf(scene.execution(metadata.name))?.message).to.contain(
      `deploy item ${item} is not picked up`,
    );
  });

  it('is no longer reported after a deployer has picked it up', async () => {
    const scene = await here.scene();
    await scene.create(web());
    const item = await neglect(scene, 'web');
    await scene.until('it is told', () => waitOf(scene.installation('web'))?.reason === 'NotTakenUp');
    await scene.patchStatus(deployItemKind, item, { phase: 'Progressing', lastReconcileTime: ago(0) });
    await scene.until('no more', () => waitOf(scene.installation('web'))?.reason === 'JobsUnfinished');
    expect(waitOf(scene.execution('web'))?.message).to.equal(`waits for deploy item ${item}`);
  });

  it('may have a type that a deployer elsewhere has served before, which is reported', async () => {
    const scene = await here.scene();
    const elsewhere = 'test.example/elsewhere';
    const items = [
      fakeItem('old', { type: elsewhere }),
      fakeItem('app', { type: elsewhere, dependsOn: ['old'] }),
    ];
    await scene.create(web({ items }));
    const deployer = { identity: 'x-1', name: 'their-deployer', version: '1' };
    await scene.answer('web', 'old', 'Succeeded', { deployer });
    await neglect(scene, 'web');
    const told = await scene.until('it is told', () => {
      const wait = waitOf(scene.execution('web'));
      return wait?.reason === 'NotTakenUp' ? wait : undefined;
    });
    expect(told.message).to.contain(
      'their-deployer, which handled the type before, has not picked it up yet',
    );
  });
});
