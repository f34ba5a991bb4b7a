/** What the worker does with the results of a plugin: the next reconcile, the messages, and the items it handles. */
import { expect } from 'chai';
import { passthrough } from '../../../../deployers/sdk/codec.ts';
import { deployerController } from '../../../../deployers/sdk/controller.ts';
import {
  done,
  fail,
  InterruptedError,
  retry,
  RetryError,
  wait,
  type DeployerPlugin,
  type Outcome,
} from '../../../../deployers/sdk/index.ts';
import { deployerMetrics } from '../../../../deployers/sdk/metrics.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { InvalidObjectName } from '../../../../src/runtime/errors.ts';
import type { Caches } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { Bench, LS, type BenchOptions, type ItemOptions } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const TYPE = 'example.org/worker';
const problem = (message = 'no') => ({ operation: 'Op', reason: 'Re', message });
const FINALIZER = 'finalizer.landscaper.gardener.cloud';

/** A bench with a scripted plugin, and the times of its calls in milliseconds. */
function given(
  answer: (look: number) => Outcome | Error,
  options: BenchOptions = {},
  item: ItemOptions = {},
) {
  const looks: number[] = [];
  const start = Date.parse('2026-01-01T00:00:00Z');
  const act = (): Promise<Outcome> => {
    looks.push(b.clock.wall() - start);
    const next = answer(looks.length);
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const plugin: DeployerPlugin = {
    type: TYPE,
    name: 'worker.example.org',
    version: '1',
    config: passthrough,
    apply: act,
    remove: act,
  };
  const b = new Bench(plugin, options);
  b.giveItem({}, { type: TYPE, target: null, timeout: '1h', ...item });
  return { b, looks };
}

describe('the time until a plugin is called again', () => {
  const rows: readonly (readonly [string, (look: number) => Outcome | Error, number, readonly number[]])[] = [
    ['grows while it waits', () => wait(), 5_000, [0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4083, 4764]],
    ['is set by a wait', () => wait({ requeueAfterMs: 2000 }), 5_000, [0, 2000, 4000]],
    ['is a second, then five, after failures', () => retry(problem()), 12_000, [0, 1000, 6000, 11_000]],
    ['is set by a failure', () => retry(problem(), { requeueAfterMs: 3000 }), 7_000, [0, 3000, 6000]],
    [
      'is set by an error',
      () => new RetryError({ operation: 'o', reason: 'r', message: 'm', requeueAfterMs: 4000 }),
      9_000,
      [0, 4000, 8000],
    ],
    ['is five minutes after a crash', () => new TypeError('bug'), 310_000, [0, 300_000]],
    ['is at least a millisecond', (look) => (look < 3 ? wait({ requeueAfterMs: 0 }) : done()), 10, [0, 1, 2]],
    [
      'starts again when it waits after a failure, and fails after it waited',
      (look) => (look === 1 || look === 4 ? retry(problem()) : wait()),
      4_000,
      [0, 1000, 1500, 2000, 3000, 3500, 4000],
    ],
  ];
  for (const [title, answer, ms, expected] of rows) {
    it(title, async () => {
      const { b, looks } = given(answer);
      await b.kick('j1');
      for (let at = 0; at < ms; at += ms / 10) await b.pass(ms / 10);
      expect(looks.map((at) => Math.round(at))).to.deep.equal(expected);
    });
  }

  it('never exceeds the timeout of the job', async () => {
    const { b } = given(() => wait({ requeueAfterMs: 600_000 }), {}, { timeout: '10s' });
    await b.kick('j1');
    await b.pass(10_000);
    expect(b.passes).to.equal(2);
  });
});

describe('the report of a job', () => {
  it('has each new failure, once, and its end', async () => {
    const told: string[] = [];
    const metrics = {
      jobEnded: (name: string, phase: string, seconds: number) =>
        told.push(`${name} ${phase} ${String(seconds)}`),
      reconcileFailed: (name: string, reason: string) => told.push(`${name} ${reason}`),
    };
    const answers = [
      retry(problem('a')),
      retry(problem('a')),
      retry({ ...problem('a'), reason: 'Other' }),
      retry({ ...problem('b'), reason: 'Other' }),
      fail(problem('c')),
    ];
    const { b } = given((look) => answers[look - 1] ?? done(), { metrics });
    await b.kick('j1');
    await b.pass(16_000);
    expect(b.events).to.deep.equal([
      'Warning Re: a',
      'Warning Other: a',
      'Warning Other: b',
      'Warning Re: c',
    ]);
    const name = 'worker.example.org';
    expect(told).to.deep.equal([
      `${name} Re`,
      `${name} Other`,
      `${name} Other`,
      `${name} Re`,
      `${name} Failed 16`,
    ]);
  });

  it('is counted by deployer, end and reason', async () => {
    const metrics = createMetrics();
    const counted = deployerMetrics(metrics);
    counted.jobEnded('d', 'Failed', 7);
    counted.reconcileFailed('d', 'Because');
    const text = await metrics.text();
    expect(text).to.match(/\{[^}]*deployer="d"[^}]*\} \d/);
    expect(text).to.contain('phase="Failed"').and.contain('reason="Because"');
  });

  for (const [title, isDeleted, operation] of [
    ['an installation', false, 'Reconcile'],
    ['a removal', true, 'Delete'],
  ] as const) {
    it(`includes a crash of the plugin during ${title}`, async () => {
      const { b } = given((look) => (look === 1 && isDeleted ? done() : new TypeError('bug')));
      await b.kick('j1');
      if (isDeleted) {
        await b.delete();
        await b.kick('j2');
      }
      expect(b.status().lastError).to.deep.include({ operation, reason: 'Panic', message: 'bug' });
      expect(b.status().jobIDFinished).to.equal(isDeleted ? 'j1' : undefined);
    });

    it(`includes where a plain error occurred: ${title}`, async () => {
      const { b } = given((look) => (look === 1 && isDeleted ? done() : new Error('plain')));
      await b.kick('j1');
      if (isDeleted) {
        await b.delete();
        await b.kick('j2');
      }
      const place = isDeleted
        ? { operation: 'delete', reason: 'DeleteWithUninstall' }
        : { operation: 'reconcile', reason: 'Reconcile' };
      expect(b.status().lastError).to.deep.include({ ...place, message: 'plain' });
    });
  }

  it('is only an event if the plugin stops because it was interrupted', async () => {
    const { b, looks } = given(() => new InterruptedError());
    await b.kick('j1');
    await b.pass(60_000);
    expect(looks).to.have.length(1);
    expect(b.status().lastError).to.equal(undefined);
    expect(b.events).to.deep.equal(['Warning Interrupted: processing of the deployitem was interrupted']);
  });
});

describe('an item whose target does not exist', () => {
  it('can be deleted if nothing is to be uninstalled', async () => {
    const { b, looks } = given(() => done(), {}, { target: 'gone', finalizers: [FINALIZER] });
    await b.delete();
    b.host.edit('DeployItem', 'proj/web', {
      metadata: { annotations: { [`${LS}/delete-without-uninstall`]: 'true' } },
    });
    await b.kick('j1');
    expect([b.isGone(), looks]).to.deep.equal([true, []]);
  });

  it('fails if nothing is to be uninstalled and it is not being deleted', async () => {
    const annotations = { [`${LS}/delete-without-uninstall`]: 'true' };
    const { b } = given(() => done(), {}, { target: 'gone', annotations });
    await b.kick('j1');
    expect(b.status()).to.deep.include({ phase: 'Failed', jobIDFinished: 'j1' });
  });

  it('fails for an invalid name of a target, and is retried while that is unknown', async () => {
    for (const [error, phase] of [
      [new InvalidObjectName({ message: 'no such name' }), 'Failed'],
      [new Error('no answer'), undefined],
    ] as const) {
      const { b } = given(() => done(), {}, { target: 'gone' });
      b.host.fail = (verb, what) => {
        if (verb === 'get' && what.startsWith('Target')) throw error;
      };
      await b.kick('j1');
      expect(b.status().phase).to.equal(phase);
      if (phase === undefined) expect(b.events).to.include('thrown no answer');
    }
  });
});

describe('the controller of a deployer', () => {
  const plugin: DeployerPlugin = {
    type: TYPE,
    name: 'worker.example.org',
    version: '1',
    config: passthrough,
    apply: () => Promise.resolve(done()),
    remove: () => Promise.resolve(done()),
  };
  const caches = {
    of: () => ({ index: () => undefined, byIndex: () => [], get: () => undefined }),
  } as unknown as Caches;
  const specOf = (more: Partial<DeployerPlugin> = {}, config: object = {}) =>
    deployerController(
      { ...plugin, ...more },
      {
        client: new FakeCluster(),
        caches,
        config,
        rng: seededRng(1),
        log: silentLogger,
        clock: new FakeClock('2026-01-01T00:00:00Z'),
      },
    );
  const item = (status: object | undefined, more: { type?: string; annotations?: object } = {}) =>
    ({
      metadata: { name: 'web', ...(more.annotations && { annotations: more.annotations }) },
      spec: { type: more.type ?? TYPE },
      ...(status && { status }),
    }) as never;
  const [open, over] = [
    { jobID: 'j2', jobIDFinished: 'j1' },
    { jobID: 'j1', jobIDFinished: 'j1' },
  ];
  const schedule = () => ({ every: '1h' });

  it('works on thirty items at a time by default', () => {
    expect([specOf().maxConcurrent, specOf({}, { workers: 3 }).maxConcurrent]).to.deep.equal([30, 3]);
  });

  it('is triggered by items with something to do', () => {
    const test = { annotations: { [`${LS}/operation`]: 'test-reconcile' } };
    const off = { continuousReconcile: { enabled: false } };
    const rows: readonly (readonly [Partial<DeployerPlugin>, object, never, boolean])[] = [
      [{}, {}, item(open), true],
      [{}, {}, item(over), false],
      [{}, {}, item(undefined), false],
      [{}, {}, item(over, test), true],
      [{}, {}, item(open, { type: 'other' }), false],
      [{ schedule }, {}, item(over), true],
      [{ schedule }, {}, item(over, { type: 'other' }), false],
      [{ schedule }, off, item(over), false],
    ];
    for (const [more, config, each, expected] of rows) {
      const { filter } = specOf(more, config);
      expect(filter?.add?.(each, false), JSON.stringify(each)).to.equal(expected);
      expect(filter?.update?.(each, each)).to.equal(expected);
      expect(filter?.delete?.(each)).to.equal(false);
    }
  });

  it('is triggered by a job that was ended elsewhere if the plugin wants to know', () => {
    const isOver = (more: Partial<DeployerPlugin>, type = TYPE) =>
      specOf(more).filter?.update?.(item(open, { type }), item(over, { type }));
    const wanting = { onJobEnded: () => Promise.resolve() };
    expect([isOver({}), isOver(wanting), isOver(wanting, 'other')]).to.deep.equal([false, true, false]);
    expect(specOf(wanting).filter?.update?.(item(over), item(over))).to.equal(false);
  });

  it('aborts a reconcile when its job is ended or its item is gone', () => {
    const { interruptWhen } = specOf();
    const update = (old: object, obj: object) =>
      interruptWhen?.({ type: 'update', old: item(old), obj: item(obj), relisted: false });
    expect([update(open, over), update(open, open), update(over, over)]).to.deep.equal([true, false, false]);
    expect(interruptWhen?.({ type: 'delete', obj: item(open), relisted: false } as never)).to.equal(true);
    expect(interruptWhen?.({ type: 'add', obj: item(over), relisted: false } as never)).to.equal(false);
  });
});
