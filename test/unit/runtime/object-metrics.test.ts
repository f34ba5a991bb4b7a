import { expect } from 'chai';
import { settle } from '../../support/clock.ts';
import { createWorld, nothing, widget, widgets, type World } from './support/world.ts';

describe('the metrics of single objects', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  afterEach(() => world.end());

  const runs = (name: string, result: string) =>
    world.metric(
      `espalier_object_reconcile_total{controller="widgets",namespace="A",name="${name}",result="${result}"}`,
    );
  const attempts = (name: string) =>
    world.metric(`espalier_object_reconcile_attempts{controller="widgets",namespace="A",name="${name}"}`);
  const two = async (): Promise<void> => {
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(widgets, widget('A/2'));
    await world.start();
  };

  it('RUN-P10: are off by default', async () => {
    world.control(() => Promise.resolve(nothing));
    await two();
    expect(world.runs).to.have.length(2);
    expect(await world.metrics.text()).to.not.include('espalier_object');
  });

  it('RUN-P10: count the results of reconciles of each, and the retries', async () => {
    world.control(
      (_, { key }) => (key === 'A/1' ? Promise.reject(new Error('no')) : Promise.resolve(nothing)),
      { objectMetrics: true },
    );
    await two();
    await world.clock.advance(3_000);
    expect(await runs('1', 'error')).to.equal(3);
    expect(await attempts('1')).to.equal(2);
    expect([await runs('2', 'success'), await attempts('2')]).to.deep.equal([1, 0]);
  });

  it('RUN-P10: are removed when their object is gone, also during a reconcile', async () => {
    world.control(
      (_, { key, clock }) =>
        new Promise((resolve) => {
          clock.at(clock.now() + (key === 'A/2' ? 5_000 : 0), () => resolve(nothing));
        }),
      { objectMetrics: true },
    );
    await two();
    await world.clock.advance(5_000);
    expect([await runs('1', 'success'), await runs('2', 'success')]).to.deep.equal([1, 1]);
    world.cluster.edit(widgets, 'A/2', { spec: { size: 2 } });
    await settle();
    world.cluster.remove(widgets, 'A/1');
    world.cluster.remove(widgets, 'A/2');
    await settle();
    expect(await runs('1', 'success')).to.equal(undefined);
    await world.clock.advance(5_000);
    expect(await world.metrics.text())
      .to.not.include('name="2"')
      .and.not.include('name="1"');
  });
});
