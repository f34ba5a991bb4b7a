/** Stories about failures: faults of the API, lost writes, interrupts, retries. */
import { expect } from 'chai';
import { isFinished } from '../../../src/api/job.ts';
import { annotations } from '../../../src/api/labels.ts';
import type { Client, Write } from '../../../src/runtime/types.ts';
import { Conflict, ServerFailure, TooManyRequests, TransportError } from '../../../src/runtime/errors.ts';
import { noFaults } from '../../../src/testing/network/faults.ts';
import { kinds } from '../cluster/objects.ts';
import { Scene, isAtWork, item, node } from './scene.ts';
import { story } from './story.ts';

const family = () =>
  node('r1', {
    items: [item('i1')],
    children: [node('r1a', { gives: true, items: [item('i1')] }), node('r1b', { items: [item('i1')] })],
  });
const slowFamily = () => {
  const root = family();
  for (const child of root.children) child.items = [item('i1', { behaviour: 'hangs' })];
  return root;
};

/** A client whose writes fail with each of these errors in turn, as long as it is told to. */
function failing(isStruck: (write: Write) => boolean): (client: Client) => Client {
  const ref = { verb: 'patch', kind: 'Installation' };
  const errors = [
    () =>
      new ServerFailure({ message: 'etcdserver: leader changed', status: 500, reason: 'InternalError', ref }),
    () => new TooManyRequests({ message: 'too many requests', status: 429, reason: 'TooManyRequests', ref }),
    () => new TransportError({ message: 'lost the connection', safeToRepeat: false }),
    () => new Conflict({ message: 'the object has been modified', status: 409, reason: 'Conflict', ref }),
  ];
  let count = 0;
  return (client) => ({
    ...client,
    send: (write, signal) => {
      if (!isStruck(write)) return client.send(write, signal);
      return Promise.reject(errors[count++ % errors.length]!());
    },
  });
}

describe('faults', function () {
  this.timeout(60_000);

  story('a temporary error does not end a job in Init', async (seed) => {
    let isOver = false;
    let struck = 0;
    /** The objects that Init of the root creates. */
    const isStruck = ({ verb, kind }: Write): boolean => {
      const isHit = !isOver && verb === 'create' && ['Installation', 'Execution'].includes(kind.kind);
      if (isHit) struck++;
      return isHit;
    };
    const scene = new Scene(seed, [family()], { wrapClient: failing(isStruck) });
    await scene.simulation.for(5_000);
    scene.user.createRoot(scene.root('r1'));
    await scene.simulation.for(20_000);
    isOver = true;
    await scene.simulation.rest();
    expect(struck).to.be.greaterThan(4);
    expect(scene.phase('r1')).to.equal('Succeeded');
    expect(scene.jobs('r1'), 'one wish is one job').to.equal(1);
  });

  story('an interrupt reaches everything below in spite of faults', async (seed) => {
    let left = 0;
    const isStruck = ({ kind }: Write): boolean => kind.kind !== 'Event' && left-- > 0;
    const scene = new Scene(seed, [slowFamily()], { wrapClient: failing(isStruck) });
    await scene.begin();
    await scene.until(
      'both children work',
      () => scene.items('i1').filter((i) => i.status?.phase === 'Progressing').length === 2,
    );
    left = 4;
    scene.user.annotate('r1', { [annotations.operation]: 'interrupt' });
    await scene.until('the root ends', () => isFinished(scene.inst('r1')!));
    expect(scene.simulation.scheduler.clock.now(), 'long before the items time out').to.be.lessThan(100_000);
    expect(scene.phase('r1')).to.equal('Failed');
    expect(scene.items().filter(isAtWork)).to.be.empty;
    await scene.simulation.rest();
  });

  story('an interrupt is completed by the next process if one is killed during it', async (seed) => {
    const scene = new Scene(seed, [slowFamily()]);
    await scene.begin();
    await scene.until(
      'both children work',
      () => scene.items('i1').filter((i) => i.status?.phase === 'Progressing').length === 2,
    );
    scene.user.annotate('r1', { [annotations.operation]: 'interrupt' });
    await scene.until('a child is told', () =>
      ['r1a', 'r1b'].some(
        (name) => scene.child('r1', name)?.metadata.annotations?.[annotations.operation] === 'interrupt',
      ),
    );
    scene.simulation.crash('main');
    await scene.until('the root ends', () => isFinished(scene.inst('r1')!));
    expect(scene.simulation.scheduler.clock.now()).to.be.lessThan(100_000);
    expect(scene.items().filter(isAtWork)).to.be.empty;
    await scene.simulation.rest();
  });

  story('a starting job does not remove an interrupt from a child', async (seed) => {
    const scene = new Scene(seed, [slowFamily()]);
    await scene.begin();
    await scene.simulation.for(6_000);
    await scene.simulation.rest();
    const child = scene.child('r1', 'r1a')!;
    scene.user.annotate(child.metadata.name, {
      'example.com/mine': 'kept',
      [annotations.operation]: 'interrupt',
    });
    scene.user.insist([scene.root('r1')]);
    await scene.until(
      'the next job works',
      () => scene.jobs('r1') === 2 && scene.phase('r1') === 'Progressing',
    );
    await scene.simulation.rest();
    const after = scene.inst(child.metadata.name)!.metadata.annotations ?? {};
    expect(after['example.com/mine']).to.equal('kept');
    expect(after[annotations.operation], 'it was heard').to.be.undefined;
  });

  story('a scheduled retry and a requested job do not add up', async (seed) => {
    const automatic = { failedReconcile: { numberOfReconciles: 2, interval: '60s' } };
    const scene = new Scene(seed, [node('r1', { automatic, items: [item('i1', { behaviour: 'fails' })] })]);
    await scene.begin();
    await scene.until(
      'the first retry has failed',
      () => scene.jobs('r1') === 2 && isFinished(scene.inst('r1')!),
    );
    scene.user.annotate('r1', { [annotations.operation]: 'reconcile' });
    await scene.until(
      'so has the one by hand',
      () => scene.jobs('r1') === 3 && isFinished(scene.inst('r1')!),
    );
    const { clock } = scene.simulation.scheduler;
    const at = clock.now();
    await scene.until('the count starts anew with the wish of the user', () => scene.jobs('r1') === 4);
    await scene.until('it is over', () => isFinished(scene.inst('r1')!));
    const before = scene.jobs('r1');
    await scene.simulation.for(30_000);
    expect(scene.jobs('r1'), 'not sooner than its interval').to.equal(before);
    await scene.simulation.rest();
    await scene.simulation.for(200_000);
    expect(scene.jobs('r1'), 'two retries after each wish').to.equal(5);
    expect(clock.now()).to.be.greaterThan(at);
  });

  story('faults of all kinds do not change the result', async (seed) => {
    const scene = new Scene(seed, [family()]);
    scene.simulation.trouble({
      ...noFaults,
      request: { conflict: 0.1, serverError: 0.1, lost: 0.1, reset: 0.1 },
      watch: { cut: 0.05, gone: 0.05 },
      crash: 0.01,
    });
    await scene.begin();
    await scene.simulation.for(60_000);
    await scene.simulation.rest();
    expect(scene.phase('r1')).to.equal('Succeeded');
    expect(scene.jobs('r1')).to.equal(1);
    expect(scene.simulation.server.list(kinds.item)).to.have.length(3);
  });
});
