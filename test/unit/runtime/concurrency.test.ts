import { expect } from 'chai';
import fc from 'fast-check';
import { sleep } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { settle } from '../../support/clock.ts';
import { createWorld, nothing, widget, widgets, type Reconcile } from './support/world.ts';

describe('reconciles that wait for slow servers', () => {
  it('leave their workers to other namespaces, and end before the controller has stopped', async () => {
    const world = createWorld();
    const { clock, cluster } = world;
    const active: Record<string, number> = {};
    const most: Record<string, number> = {};
    const reconcile: Reconcile = async (_, ctx) => {
      const name = ctx.key.slice(0, 1);
      active[name] = (active[name] ?? 0) + 1;
      most[name] = Math.max(most[name] ?? 0, active[name]);
      await sleep(clock, name === 'A' ? 3_600_000 : 1_000);
      active[name]--;
      return nothing;
    };
    world.control(reconcile, { maxConcurrent: 4, freesWorkerAfterMs: 10_000 });
    for (const name of 'ABC')
      for (let i = 0; i < 20; i++) cluster.put(widgets, widget(`${name}/${String(i)}`));
    await world.start();
    await clock.advance(60_000);
    expect(active).to.deep.equal({ A: 3, B: 0, C: 0 });
    expect(world.runs.filter((run) => !run.includes(' A'))).to.have.length(40);
    expect((most['B'] ?? 0) + (most['C'] ?? 0)).to.be.above(2);
    const stopped = world.manager.stop();
    await clock.advance(3_600_000);
    await stopped;
    expect(active['A']).to.equal(0);
  });
});

describe('reconciles of one object', () => {
  it('RUN-01: never overlap, and one starts after the last event, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const rng = seededRng(seed);
        const chance = (share: number): boolean => rng.next() < share;
        const world = createWorld({ rng: seededRng(seed + 1) });
        const { clock, cluster } = world;
        const inFlight = new Set<string>();
        const lastStart = new Map<string, number>();
        const lastEvent = new Map<string, number>();
        let ticks = 0;
        let overlaps = 0;
        let most = 0;
        let isQuiet = false;
        const reconcile: Reconcile = (_, ctx) => {
          if (inFlight.has(ctx.key)) overlaps++;
          inFlight.add(ctx.key);
          most = Math.max(most, inFlight.size);
          lastStart.set(ctx.key, ++ticks);
          return new Promise((resolve, reject) => {
            clock.at(clock.now() + Math.floor(rng.next() * 3_000), () => {
              inFlight.delete(ctx.key);
              if (!isQuiet && chance(0.3)) reject(new Error('no'));
              else
                resolve(
                  !isQuiet && chance(0.3) ? { write: 'none', requeueAfterMs: rng.next() * 2_000 } : nothing,
                );
            });
          });
        };
        const controller = world.control(reconcile, { maxConcurrent: 50, limit: { reconciles: 20 } });
        const keys = Array.from({ length: 40 }, (_, i) => `A/${String(i)}`);
        for (const key of keys) cluster.put(widgets, widget(key));
        await world.start();
        for (let round = 0; round < 40; round++) {
          for (let i = 0; i < 10; i++) {
            const key = keys[Math.floor(rng.next() * keys.length)] ?? 'A/0';
            if (chance(0.5)) controller.enqueue(key);
            else cluster.edit(widgets, key, { spec: { size: round * 100 + i } });
            await settle(1);
            lastEvent.set(key, ++ticks);
          }
          await clock.advance(Math.floor(rng.next() * 500));
        }
        isQuiet = true;
        await clock.advance(400_000);
        expect(overlaps).to.equal(0);
        expect(world.runs.length).to.be.greaterThan(100);
        expect(most).to.be.greaterThan(5);
        expect(inFlight.size).to.equal(0);
        for (const [key, at] of lastEvent) {
          // An event whose reconcile started in the same instant was recorded right after that.
          expect(lastStart.get(key), `${key} with seed ${String(seed)}`).to.be.greaterThan(at - 2);
        }
        expect(await world.metric('controller_runtime_active_workers{controller="widgets"}')).to.equal(0);
        await world.end();
      }),
      { numRuns: 20 },
    );
  }).timeout(60_000);
});
