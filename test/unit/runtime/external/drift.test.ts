import { expect } from 'chai';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { Drifts } from '../../../../src/runtime/external/drift.ts';
import { FakeClock } from '../../../support/clock.ts';
import { objectOf } from '../support/source-host.ts';

describe('the drifts of external resources', () => {
  const setup = () => {
    const clock = new FakeClock();
    const metrics = createMetrics();
    const drifts = new Drifts(clock, metrics, 'buckets');
    const value = async (name: string): Promise<number> => {
      const line = (await metrics.text()).split('\n').find((each) => each.startsWith(`${name}{`));
      return Number(line?.split(' ').at(-1));
    };
    const counted = async () => [
      await value('espalier_external_drifts_total'),
      await value('espalier_external_drift_seconds_sum'),
    ];
    return { clock, drifts, counted };
  };
  const object = (generation: number) => objectOf('A/1', { uid: 'u', generation });

  it('are counted once, with the time since the resource was last up to date', async () => {
    const { clock, drifts, counted } = setup();
    drifts.inSync(object(1));
    await clock.advance(60_000);
    drifts.inSync(object(1));
    await clock.advance(90_000);
    drifts.differs(object(1));
    await clock.advance(30_000);
    drifts.differs(object(1));
    expect(await counted()).to.deep.equal([1, 90]);
    drifts.inSync(object(1));
    await clock.advance(10_000);
    drifts.differs(object(1));
    expect(await counted()).to.deep.equal([2, 100]);
  });

  it('are not changes of the object, and not new objects', async () => {
    const { drifts, counted } = setup();
    drifts.differs(object(1));
    drifts.inSync(object(1));
    drifts.differs(object(2));
    drifts.inSync(object(2));
    drifts.forget(object(2));
    drifts.differs(object(2));
    expect(await counted()).to.deep.equal([0, 0]);
  });
});
