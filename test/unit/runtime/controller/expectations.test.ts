import { expect } from 'chai';
import { systemClock } from '../../../../src/lib/clock.ts';
import { Expectations } from '../../../../src/runtime/controller/expectations.ts';
import { DefinitionError } from '../../../../src/runtime/errors.ts';
import { byController } from '../../../../src/runtime/sources/mappers.ts';
import { watchSource } from '../../../../src/runtime/sources/sources.ts';
import type { Context, Expectation, ExpectationResult } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import { recordingLogger, type LogLine } from '../../../support/recording-logger.ts';
import { inTime } from '../../../support/waiting.ts';
import { createWorld, nothing, parts, widget, widgets, type Widget, type World } from '../support/world.ts';

const owned = (data: Record<string, string>) => ({
  metadata: {
    namespace: 'A',
    name: 'p',
    ownerReferences: [{ apiVersion: 'example.io/v1', kind: 'Widget', name: '1', uid: 'u', controller: true }],
  },
  data,
});
/** The part is ready. */
const ready: Expectation<Widget> = {
  until: (_, { secondary }) => secondary(parts)?.data?.['ready'] === 'yes',
  timeoutMs: 60_000,
};
const done: Expectation<Widget> = { until: ({ status }) => status?.phase === 'Done', timeoutMs: 60_000 };

describe('an expectation', () => {
  let world: World;
  let lines: LogLine[];
  /** The results that the reconciles read. */
  let results: ExpectationResult[];
  /** What each reconcile does after it has read the result. */
  let then: (ctx: Context<Widget>) => void;
  beforeEach(() => {
    const recording = recordingLogger();
    world = createWorld({ log: recording.log });
    lines = recording.lines;
    results = [];
    then = () => undefined;
  });
  afterEach(() => world.end());

  /** Starts a controller that reconciles new generations only, and hears nothing of its parts. */
  const start = async (expectation: Expectation<Widget> = ready): Promise<void> => {
    const source = watchSource({
      cache: world.caches.of(parts),
      toPrimary: byController(widgets),
      filter: { add: () => false, update: () => false, delete: () => false },
    });
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(parts, owned({}));
    world.control(
      (_, ctx) => {
        const result = ctx.expectations.resultOf('it');
        results.push(result);
        if (result === 'none' && results.length === 1) ctx.expectations.expect('it', expectation);
        then(ctx);
        return Promise.resolve(nothing);
      },
      { sources: [source], generation: 'memory' },
    );
    await world.start();
    expect(results).to.deep.equal(['none']);
  };
  const seen = async (): Promise<string[]> => {
    await settle();
    return results.slice(1);
  };

  it('reconciles when a secondary fulfils it, although a filter drops the event', async () => {
    await start();
    world.cluster.edit(parts, 'A/p', { data: { ready: 'no' } });
    expect(await seen()).to.deep.equal([]);
    world.cluster.edit(parts, 'A/p', { data: { ready: 'yes' } });
    expect(await seen()).to.deep.equal(['fulfilled']);
    world.cluster.edit(parts, 'A/p', { data: { ready: 'no' } });
    await world.clock.advance(120_000);
    expect(await seen()).to.deep.equal(['fulfilled']);
    expect(
      await world.metric(
        'espalier_events_total{controller="widgets",source="expectation",action="fulfilled",outcome="queued"}',
      ),
    ).to.equal(1);
  });

  it('reconciles when the status of the primary fulfils it', async () => {
    await start(done);
    world.cluster.edit(widgets, 'A/1', { status: { phase: 'Busy' } }, 'status');
    expect(await seen()).to.deep.equal([]);
    world.cluster.edit(widgets, 'A/1', { status: { phase: 'Done' } }, 'status');
    expect(await seen()).to.deep.equal(['fulfilled']);
  });

  it('reconciles when its time has passed', async () => {
    await start();
    await world.clock.advance(59_999);
    expect(await seen()).to.deep.equal([]);
    await world.clock.advance(1);
    expect(await seen()).to.deep.equal(['timed out']);
    expect(world.runs).to.deep.equal(['0 A/1', '60 A/1']);
  });

  it('is pending in reconciles with another cause, and is gone after a reconcile that read its result', async () => {
    await start();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    expect(await seen()).to.deep.equal(['pending']);
    world.cluster.edit(parts, 'A/p', { data: { ready: 'yes' } });
    await settle();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 3 } });
    expect(await seen()).to.deep.equal(['pending', 'fulfilled', 'none']);
  });

  it('keeps its result until a reconcile that read it succeeds', async () => {
    await start();
    then = () => {
      if (results.length === 2) throw new Error('not yet');
    };
    world.cluster.edit(parts, 'A/p', { data: { ready: 'yes' } });
    await settle();
    await world.clock.advance(1_000);
    expect(await seen()).to.deep.equal(['fulfilled', 'fulfilled']);
  });

  it('stays fulfilled if the condition ends before the reconcile', async () => {
    await start();
    // One event directly after the other, so that the worker sees the second state.
    world.cluster.edit(parts, 'A/p', { data: { ready: 'yes' } });
    world.cluster.edit(parts, 'A/p', { data: { ready: 'no' } });
    expect(await seen()).to.deep.equal(['fulfilled']);
  });

  it('keeps its time limit when it is expected again', async () => {
    await start();
    then = ({ expectations }) => {
      if (results.at(-1) === 'pending') expectations.expect('it', done);
    };
    await world.clock.advance(30_000);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    world.cluster.edit(parts, 'A/p', { data: { ready: 'yes' } });
    expect(await seen(), 'the new condition counts').to.deep.equal(['pending']);
    await world.clock.advance(30_000);
    expect(await seen()).to.deep.equal(['pending', 'timed out']);
  });

  it('is checked at the end of a reconcile for what happened during it', async () => {
    await start(done);
    then = () => {
      if (results.length === 2) world.cluster.edit(widgets, 'A/1', { status: { phase: 'Done' } }, 'status');
    };
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    expect(await seen()).to.deep.equal(['pending', 'fulfilled']);
  });

  it('reconciles at once if the condition holds already', async () => {
    world.cluster.put(widgets, widget('A/1'));
    world.control((_, ctx) => {
      results.push(ctx.expectations.resultOf('it'));
      if (results.length === 1) ctx.expectations.expect('it', { until: () => true, timeoutMs: 1_000 });
      return Promise.resolve(nothing);
    });
    await world.start();
    await world.clock.advance(5_000);
    expect(results).to.deep.equal(['none', 'fulfilled']);
  });

  it('has no result after it was dropped', async () => {
    await start();
    then = ({ expectations }) => {
      expectations.drop('it');
      expectations.drop('unknown');
    };
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    world.cluster.edit(parts, 'A/p', { data: { ready: 'yes' } });
    await world.clock.advance(120_000);
    expect(await seen()).to.deep.equal(['pending']);
  });

  it('is forgotten with its primary', async () => {
    await start();
    world.cluster.remove(widgets, 'A/1');
    await settle();
    world.cluster.put(widgets, widget('A/1'));
    await settle();
    world.cluster.edit(parts, 'A/p', { data: { ready: 'yes' } });
    await world.clock.advance(120_000);
    expect(await seen()).to.deep.equal(['none']);
  });

  it('is not fulfilled while its condition throws, which the log shows', async () => {
    await start({
      until: () => {
        if (results.length > 0) throw new Error('broken');
        return false;
      },
      timeoutMs: 60_000,
    });
    world.cluster.edit(parts, 'A/p', { data: { ready: 'no' } });
    expect(await seen()).to.deep.equal([]);
    expect(lines.map(({ fields }) => (fields as { what?: string }).what)).to.include('expectation it');
  });

  it('needs a positive time limit', async () => {
    let thrown: unknown;
    world.cluster.put(widgets, widget('A/1'));
    world.control((_, ctx) => {
      try {
        ctx.expectations.expect('it', { ...done, timeoutMs: 0 });
      } catch (error) {
        thrown = error;
      }
      return Promise.resolve(nothing);
    });
    await world.start();
    expect(thrown).to.be.instanceOf(DefinitionError);
    expect((thrown as Error).message).to.include(
      'expectation "it": timeoutMs must be a positive number, not 0',
    );
  });

  it("times out by the machine's clock, too", async () => {
    const primary = widget('A/1') as Widget;
    const timeouts = Array.from({ length: 20 }, (_, i) => i + 0.37);
    const timedOut = new Promise<void>((resolve) => {
      let count = 0;
      const expectations = new Expectations<Widget>({
        clock: systemClock,
        primaryOf: () => primary,
        readsOf: () => ({ secondaries: () => [], secondary: () => undefined, valuesOf: () => [] }),
        isActive: () => false,
        guard: (_, fn) => fn(),
        onResult: () => {
          if (++count === timeouts.length) resolve();
        },
      });
      const manager = expectations.of('A/1', primary);
      for (const timeoutMs of timeouts) manager.expect(String(timeoutMs), { until: () => false, timeoutMs });
    });
    await inTime('all expectations time out', timedOut, { forMs: 10_000 });
  });
});
