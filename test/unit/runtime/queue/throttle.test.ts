import { expect } from 'chai';
import { DefinitionError } from '../../../../src/runtime/errors.ts';
import { settle } from '../../../support/clock.ts';
import { createWorld, succeeding, taking, widget, widgets, type World } from '../support/world.ts';

describe('the total limit of a controller', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  afterEach(() => world.end());

  const put = (n: number): void => {
    for (let i = 1; i <= n; i++) world.cluster.put(widgets, widget(`A/${String(i)}`));
  };

  it('admits a burst over all objects, and then reconciles at its rate', async () => {
    put(6);
    world.control(succeeding, { totalLimit: { perSecond: 2, burst: 3 } });
    await world.start();
    expect(world.runs).to.deep.equal(['0 A/1', '0 A/2', '0 A/3']);
    await world.clock.advance(10_000);
    expect(world.runs.slice(3)).to.deep.equal(['0.5 A/4', '1 A/5', '1.5 A/6']);
  });

  it('has a burst of one by default, and does not wait after a quiet time', async () => {
    put(2);
    world.control(succeeding, { totalLimit: { perSecond: 1 } });
    await world.start();
    await world.clock.advance(5_000);
    world.cluster.edit(widgets, 'A/2', { spec: { size: 2 } });
    await settle();
    expect(world.runs).to.deep.equal(['0 A/1', '1 A/2', '5 A/2']);
  });

  it('lets an edit go before the rest of a first list', async () => {
    put(5);
    world.control(succeeding, { totalLimit: { perSecond: 1 } });
    await world.start();
    world.cluster.edit(widgets, 'A/5', { spec: { size: 2 } });
    await world.clock.advance(10_000);
    expect(world.runs).to.deep.equal(['0 A/1', '1 A/2', '2 A/5', '3 A/3', '4 A/4']);
  });

  it('lets reconciles overlap', async () => {
    put(2);
    world.control(taking(world.clock, 5_000), { totalLimit: { perSecond: 1 } });
    await world.start();
    await world.clock.advance(1_000);
    expect(world.runs).to.deep.equal(['0 A/1', '1 A/2']);
  });

  it('reconciles the state after the wait, and nothing if the object is gone', async () => {
    put(3);
    const sizes: unknown[] = [];
    world.control(
      (p) => {
        sizes.push(p.spec?.size);
        return succeeding(p, undefined as never);
      },
      { totalLimit: { perSecond: 1 } },
    );
    await world.start();
    world.cluster.edit(widgets, 'A/2', { spec: { size: 7 } });
    world.cluster.remove(widgets, 'A/3');
    await world.clock.advance(10_000);
    expect(sizes.slice(0, 2)).to.deep.equal([1, 7]);
    expect(world.runs.filter((run) => run.endsWith('A/3'))).to.deep.equal([]);
  });

  it('does not delay the end of the process', async () => {
    put(2);
    world.control(succeeding, { totalLimit: { perSecond: 0.001 } });
    await world.start();
    const stopped = world.manager.stop();
    await settle();
    await stopped;
    expect(world.clock.now()).to.equal(0);
    expect(world.runs).to.deep.equal(['0 A/1']);
  });

  for (const totalLimit of [
    { perSecond: 0 },
    { perSecond: Infinity },
    { perSecond: NaN },
    { perSecond: 1, burst: 0 },
  ])
    it(`is refused with ${JSON.stringify(totalLimit)}`, () => {
      expect(() => world.control(succeeding, { totalLimit })).to.throw(
        DefinitionError,
        'controller widgets: totalLimit needs perSecond above 0 and a burst of at least 1',
      );
    });
});
