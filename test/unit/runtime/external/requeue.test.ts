import { expect } from 'chai';
import { next, type Slot } from '../../../../src/runtime/controller/decide.ts';
import { decideRequeue } from '../../../../src/runtime/external/requeue.ts';
import { exponential } from '../../../../src/runtime/queue/retry.ts';
import { settle } from '../../../support/clock.ts';
import { noChance } from '../support/world.ts';
import { buckets, createScene, KEY, made, NAME, type Scene } from './cloud.ts';

const error = new Error('no');

describe('the next reconcile of an external resource', () => {
  const rows = [
    ['RUN-97: dirty', true, {}, undefined, { when: 'now' }],
    ['RUN-97: dirty, with an error', true, {}, error, { when: 'now' }],
    ['RUN-97: dirty, asked to wait', true, { requeueAfterMs: 60_000 }, undefined, { when: 'now' }],
    ['RUN-97: dirty, asked to back off', true, { backOff: true }, error, { when: 'now' }],
    ['RUN-98: clean, with an error', false, {}, error, { when: 'backOff' }],
    [
      'RUN-98: clean, with an error, whatever was requested',
      false,
      { requeueAfterMs: 60_000 },
      error,
      { when: 'backOff' },
    ],
    [
      'RUN-98: clean, with an error, with a forbidden back-off',
      false,
      { backOff: false },
      error,
      { when: 'backOff' },
    ],
    ['RUN-99: clean, asked to back off', false, { backOff: true }, undefined, { when: 'backOff' }],
    ['RUN-99: clean, asked to back off, with an error', false, { backOff: true }, error, { when: 'backOff' }],
    [
      'RUN-99: clean, with both requested',
      false,
      { backOff: true, requeueAfterMs: 5 },
      undefined,
      { when: 'backOff' },
    ],
    ['RUN-100: clean, with a forbidden back-off', false, { backOff: false }, undefined, { when: 'sync' }],
    ['RUN-100: clean, nothing said', false, {}, undefined, { when: 'sync' }],
    [
      'RUN-101: clean, with a requested delay',
      false,
      { requeueAfterMs: 60_000 },
      undefined,
      { when: 'later', requeueAfterMs: 60_000 },
    ],
  ] as const;
  for (const [title, dirty, result, thrown, expected] of rows) {
    it(title, () => {
      expect(decideRequeue(dirty, result, thrown)).to.deep.equal(expected);
    });
  }

  it('RUN-97–RUN-101: is the same in the queue of a controller', () => {
    const timing = {
      retry: exponential({ initialMs: 1_000, factor: 2, maxMs: 60_000 }),
      syncMs: 36_000_000,
      syncJitter: 0,
    };
    const said = { run: 'now', retry: 'backOff', sync: 'sync', requeue: 'later' } as const;
    for (const dirty of [true, false]) {
      for (const result of [{}, { backOff: true }, { backOff: false }, { requeueAfterMs: 60_000 }]) {
        for (const thrown of [undefined, error]) {
          const isFailure = thrown !== undefined || ('backOff' in result && result.backOff);
          const slot: Slot = { attempt: 0, gone: false, dirty };
          const control = 'requeueAfterMs' in result ? { requeueAfterMs: result.requeueAfterMs } : {};
          const step = next(
            slot,
            isFailure ? { ok: false, error, retry: true } : { ok: true, ...control },
            timing,
            0,
            noChance,
          );
          const asked = step.do === 'wait' ? step.kind : step.do;
          expect(said[asked as keyof typeof said]).to.equal(decideRequeue(dirty, result, thrown).when);
        }
      }
    }
  });
});

describe('RUN-102: the times of reconciles', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = createScene();
  });
  afterEach(() => scene.world.end());

  it('a creation that always fails is repeated at once for the change of the status, then at growing intervals', async () => {
    const { cloud, connectedAt, world } = scene;
    cloud.faults.create = new Error('quota exceeded');
    scene.put();
    await scene.start();
    await world.clock.advance(15_500);
    expect([...new Set(connectedAt)]).to.deep.equal([0, 1, 3, 7, 15]);
    expect(connectedAt.filter((at) => at === 0).length).to.be.greaterThan(1);
  });

  it('an object that is gone is not reconciled again', async () => {
    const { world, connectedAt } = scene;
    scene.put();
    await scene.start();
    await world.clock.advance(10_000);
    world.cluster.remove(buckets, KEY);
    await settle();
    expect(scene.get()).to.equal(undefined);
    connectedAt.length = 0;
    await world.clock.advance(600_000);
    expect(connectedAt).to.deep.equal([]);
  });

  it('an operation in progress is checked after 30 s, an up-to-date resource after a minute', async () => {
    const { cloud, world, connectedAt } = scene;
    cloud.things.set(NAME, { size: 1, state: 'creating' });
    scene.put({ size: 1 }, made(world.clock.wall()));
    await scene.start();
    connectedAt.length = 0;
    await world.clock.advance(30_000);
    expect(connectedAt).to.deep.equal([30]);
    cloud.things.set(NAME, { size: 1, state: 'ready' });
    await world.clock.advance(30_000);
    // The second reconcile is for the change of the status.
    expect(connectedAt).to.deep.equal([30, 60, 60]);
    await world.clock.advance(60_000);
    expect(connectedAt).to.deep.equal([30, 60, 60, 120]);
  });

  it('a service with a different state each time does not cause endless reconciles by our own writes', async () => {
    const { cloud, world, connectedAt } = scene;
    let count = 0;
    cloud.attributes = () => ({ seen: ++count });
    scene.put();
    await scene.start();
    await world.clock.advance(1_000);
    expect(connectedAt.length).to.be.lessThan(6);
    expect(scene.get()?.status?.attributes).to.deep.equal({ seen: count });

    cloud.attributes = undefined;
    let request = 0;
    cloud.during = (step) => {
      if (step === 'observe') throw new Error(`request ${String(++request)} was refused`);
    };
    connectedAt.length = 0;
    await world.clock.advance(63_000);
    expect(connectedAt.length).to.be.lessThan(5);
  });
});
