/** A namespace with two thousand objects besides one with a single object, the canary, which must not be affected. */
import { expect } from 'chai';
import { createWorld, failing, nothing, taking, widget, widgets, type Reconcile } from './support/world.ts';
import type { FakeClock } from '../../support/clock.ts';

const MANY = 2_000;
const CANARY = 'b/canary';

interface Row {
  readonly title: string;
  readonly reconcile: (clock: FakeClock) => Reconcile;
  readonly spec?: { readonly maxConcurrent: number };
  /** Seconds that a reconcile of the canary may have to wait. */
  readonly mostWait: number;
}

const rows: readonly Row[] = [
  { title: 'take ten seconds each', reconcile: (clock) => taking(clock, 10_000), mostWait: 0 },
  { title: 'never end', reconcile: () => () => new Promise(() => undefined), mostWait: 0 },
  { title: 'fail', reconcile: () => failing(), mostWait: 0 },
  {
    title: 'take a second each with a single worker',
    reconcile: (clock) => taking(clock, 1_000),
    spec: { maxConcurrent: 1 },
    mostWait: 1,
  },
];

describe('a canary beside 2000 objects of another namespace', () => {
  for (const { title, reconcile, spec, mostWait } of rows) {
    it(`is reconciled in time if theirs ${title}`, async () => {
      const world = createWorld();
      const { clock, cluster } = world;
      const theirs = reconcile(clock);
      world.control(
        (primary, ctx) => (ctx.key === CANARY ? Promise.resolve(nothing) : theirs(primary, ctx)),
        {
          ...spec,
        },
      );
      for (let i = 0; i < MANY; i++) cluster.put(widgets, widget(`a/${String(i)}`));
      cluster.put(widgets, widget(CANARY));
      await world.start();
      const canaryRuns = (): number[] =>
        world.runs.filter((run) => run.endsWith(` ${CANARY}`)).map((run) => Number(run.split(' ')[0]));
      await clock.advance(mostWait * 1_000);
      expect(canaryRuns(), 'the first run').to.have.length(1);
      for (let round = 1; round <= 5; round++) {
        await clock.advance(3_700);
        const at = clock.now() / 1_000;
        cluster.edit(widgets, CANARY, { spec: { size: round + 1 } });
        await clock.advance(mostWait * 1_000);
        const ran = canaryRuns();
        expect(ran, `an edit at ${String(at)} s`).to.have.length(round + 1);
        expect((ran.at(-1) ?? Infinity) - at).to.be.at.most(mostWait);
      }
      expect(world.runs.length, 'the others get on, too').to.be.greaterThan(7);
      await world.end();
    }).timeout(20_000);
  }

  it('is retried after its own pause, however many of theirs wait for theirs', async () => {
    const world = createWorld();
    const { clock, cluster } = world;
    world.control(failing());
    for (let i = 0; i < MANY; i++) cluster.put(widgets, widget(`a/${String(i)}`));
    await world.start();
    await clock.advance(500);
    cluster.put(widgets, widget(CANARY));
    await clock.advance(1_000);
    expect(world.runs.filter((run) => run.endsWith(` ${CANARY}`))).to.deep.equal([
      `0.5 ${CANARY}`,
      `1.5 ${CANARY}`,
    ]);
    await world.end();
  }).timeout(20_000);
});
