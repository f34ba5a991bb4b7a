import { expect } from 'chai';
import { Writable } from 'node:stream';
import { seededRng } from '../../../src/lib/rng.ts';
import { createLogger } from '../../../src/observability/log.ts';
import { controllerMetrics } from '../../../src/observability/controller-metrics.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { apiErrorFrom, NoRetryError } from '../../../src/runtime/errors.ts';
import { byController } from '../../../src/runtime/sources/mappers.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { sourcesCheck, watchLoopLag } from '../../../src/runtime/manager/probes.ts';
import { watchSource } from '../../../src/runtime/sources/sources.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import {
  createWorld,
  failing,
  nothing,
  parts,
  succeeding,
  widget,
  widgets,
  type Part,
  type Widget,
} from './support/world.ts';

type Line = Record<string, unknown>;

const recording = (): { lines: Line[]; destination: Writable } => {
  const lines: Line[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      for (const line of chunk.toString().split('\n')) if (line) lines.push(JSON.parse(line) as Line);
      done();
    },
  });
  return { lines, destination };
};

describe('logs and metrics', () => {
  it('RUN-126: give every log line of a reconcile the fields of its primary, however reconciles interleave', async () => {
    const { lines, destination } = recording();
    const log = createLogger({ level: 'trace', destination });
    const world = createWorld({ log, rng: seededRng(1) });
    const deep = async (name: string): Promise<void> => {
      await settle(Number(name) % 3);
      log.info({ name }, 'deep inside');
    };
    world.control(
      async (primary) => {
        await deep(primary.metadata.name);
        return nothing;
      },
      { maxConcurrent: 50 },
    );
    for (let i = 0; i < 50; i++) world.cluster.put(widgets, widget(`A/${String(i)}`));
    await world.start();
    const inside = lines.filter(({ msg }) => msg === 'deep inside');
    expect(inside).to.have.length(50);
    for (const line of inside) expect(line['resource.name']).to.equal(line['name']);
    expect(new Set(inside.map((line) => line['reconcileID'])).size).to.equal(50);
    expect(inside[0]).to.include({
      controller: 'widgets',
      'resource.apiVersion': 'example.io/v1',
      'resource.kind': 'Widget',
      'resource.namespace': 'A',
      'resource.generation': 1,
    });
    expect(inside[0]).to.include.keys('resource.uid', 'resource.resourceVersion');
    await world.end();
  });

  it('have the fields that the controller adds, also in the line about a failure', async () => {
    const { lines, destination } = recording();
    const log = createLogger({ level: 'info', destination });
    const world = createWorld({ log, rng: seededRng(1) });
    const fail = (): Promise<never> => {
      log.info({}, 'inside');
      return Promise.reject(new NoRetryError({ message: 'no' }));
    };
    world.control(fail, { logFields: ({ metadata }) => ({ tree: `of ${metadata.name}` }) });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    const found = lines.filter((line) => line['resource.name'] === '1');
    expect(found.map(({ msg, tree }) => [msg, tree])).to.deep.equal([
      ['inside', 'of 1'],
      ['reconcile failed, not retrying', 'of 1'],
    ]);
    await world.end();
  });

  it('keep the fields of one log line out of the next', async () => {
    const { lines, destination } = recording();
    const log = createLogger({ level: 'info', destination });
    const world = createWorld({ log, rng: seededRng(1) });
    world.control(() => {
      log.info({ step: 1 }, 'inside');
      log.info({ child: 'a' }, 'inside');
      return Promise.resolve(nothing);
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    const [first, second] = lines.filter(({ msg }) => msg === 'inside');
    expect(first).to.include({ step: 1, 'resource.name': '1' });
    expect(second).to.include({ child: 'a', reconcileID: first?.['reconcileID'] });
    expect(second).to.not.have.property('step');
    await world.end();
  });

  const conflict = apiErrorFrom(409, { reason: 'Conflict' }, { verb: 'patch', kind: 'Widget' });
  const levels = [
    ['a conflict', conflict, 'default', 'info'],
    ['a failure', new Error('no'), 'default', 'warn'],
    ['a failure that was handled', new Error('no'), { retry: true }, 'debug'],
    ['a final failure', new NoRetryError({ message: 'no' }), 'default', 'error'],
  ] as const;
  for (const [what, error, control, level] of levels) {
    it(`log ${what} at ${level}`, async () => {
      const { lines, destination } = recording();
      const world = createWorld({ log: createLogger({ level: 'trace', destination }) });
      world.control(succeeding, {
        reconciler: { reconcile: failing(error), onError: () => Promise.resolve(control) },
      });
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      const about = lines.filter((line) => 'err' in line);
      expect(about.map((line) => line['level'])).to.deep.equal([level]);
      expect(about[0]).to.include({ controller: 'widgets', 'resource.name': '1' });
      await world.end();
    });
  }

  it('RUN-126: have every series from the start, at 0', async () => {
    const world = createWorld({ lease: { namespace: 'system', name: 'lead', onLost: () => undefined } });
    world.control(succeeding);
    const zero = [
      ...['success', 'error', 'requeue', 'requeue_after'].map(
        (result) => `controller_runtime_reconcile_total{controller="widgets",result="${result}"}`,
      ),
      ...[
        'reconcile_errors_total',
        'terminal_reconcile_errors_total',
        'reconcile_panics_total',
        'reconcile_timeouts_total',
        'reconcile_time_seconds_count',
        'active_workers',
      ].map((name) => `controller_runtime_${name}{controller="widgets"}`),
      ...['adds_total', 'retries_total', 'queue_duration_seconds_count', 'work_duration_seconds_count'].map(
        (name) => `workqueue_${name}{name="widgets",controller="widgets"}`,
      ),
      ...['unfinished_work_seconds', 'longest_running_processor_seconds'].map(
        (name) => `workqueue_${name}{name="widgets",controller="widgets"}`,
      ),
      'workqueue_depth{name="widgets",controller="widgets",priority="0"}',
      'espalier_reconcile_attempts_total{controller="widgets"}',
      'espalier_events_total{controller="widgets",source="primary",action="update",outcome="queued"}',
      'espalier_event_loop_lag_seconds',
      'leader_election_master_status{name="lead"}',
    ];
    for (const line of zero) expect(await world.metric(line), line).to.equal(0);
    const most = 'controller_runtime_max_concurrent_reconciles{controller="widgets"}';
    expect(await world.metric(most)).to.equal(10);
    await world.end();
  });

  it('count reconciles, events and the work in progress', async () => {
    const world = createWorld();
    let left = 1;
    world.control(
      () =>
        new Promise((resolve, reject) => {
          world.clock.at(world.clock.now() + 3_000, () => {
            if (left-- > 0) reject(new Error('no'));
            else resolve(nothing);
          });
        }),
      { maxConcurrent: 1 },
    );
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(widgets, widget('A/2'));
    await world.start();
    await world.clock.advance(2_000);
    const own = '{controller="widgets"}';
    const queue = '{name="widgets",controller="widgets"}';
    expect(await world.metric(`controller_runtime_active_workers${own}`)).to.equal(1);
    expect(await world.metric(`workqueue_unfinished_work_seconds${queue}`)).to.equal(2);
    expect(
      await world.metric('workqueue_depth{name="widgets",controller="widgets",priority="-100"}'),
    ).to.equal(1);
    await world.clock.advance(60_000);
    const result = (name: string): string =>
      `controller_runtime_reconcile_total{controller="widgets",result="${name}"}`;
    expect(await world.metric(result('success'))).to.equal(2);
    expect(await world.metric(result('error'))).to.equal(1);
    expect(await world.metric(`espalier_reconcile_attempts_total${own}`)).to.equal(1);
    expect(await world.metric(`workqueue_adds_total${queue}`)).to.equal(3);
    expect(await world.metric(`controller_runtime_reconcile_time_seconds_sum${own}`)).to.equal(9);
    const event =
      'espalier_events_total{controller="widgets",source="primary",action="add",outcome="queued"}';
    expect(await world.metric(event)).to.equal(2);
    await world.end();
  });

  it('count the echoes of own writes, of the primary and of its secondaries', async () => {
    const world = createWorld();
    const source = watchSource({ cache: world.caches.of(parts), toPrimary: byController(widgets) });
    world.control(
      async (primary, { write }) => {
        const owner = { apiVersion: 'example.io/v1', kind: 'Widget', name: '1', uid: 'u', controller: true };
        const metadata = { namespace: 'A', name: `p-${String(world.runs.length)}`, ownerReferences: [owner] };
        const owned: Part = { apiVersion: 'example.io/v1', kind: 'Part', metadata };
        await write({ verb: 'create', kind: parts, object: owned });
        return { write: 'status', object: { ...(primary as Widget), status: { phase: 'Done' } } };
      },
      { sources: [source] },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    const echoes = (from: string, action: string) =>
      world.metric(
        `espalier_events_total{controller="widgets",source="${from}",action="${action}",outcome="echo"}`,
      );
    expect(await echoes('primary', 'update')).to.equal(1);
    expect(await echoes('parts.example.io', 'add')).to.equal(1);
    expect(world.runs).to.have.length(1);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(await echoes('primary', 'update')).to.equal(1);
    await world.end();
  });

  it('have at most 25 separate priorities, and the rest together', async () => {
    const metrics = createMetrics();
    const depths = new Map(Array.from({ length: 40 }, (_, i) => [i, 1]));
    controllerMetrics(metrics, 'many', {
      maxConcurrent: 1,
      activeWorkers: () => 0,
      depths: () => depths,
      running: () => [],
    });
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('workqueue_depth{'));
    expect(lines).to.have.length(25);
    expect(lines.at(-1)).to.match(/priority="other"} 16$/);
  });

  it('RUN-124: name the source that is not synced', async () => {
    const world = createWorld({ syncTimeoutMs: 1e9 });
    world.cluster.silent.add('Widget');
    world.control(succeeding);
    void world.manager.start().catch(() => undefined);
    await settle();
    expect(sourcesCheck(world.caches).problem()).to.contain('widgets.example.io');
    expect(world.manager.ready).to.equal(false);
    await world.manager.stop();
  });

  it('RUN-124: measure how long the event loop was blocked, and report too long as a failure', async () => {
    const clock = new FakeClock();
    let skew = 0;
    const now = clock.now.bind(clock);
    clock.now = () => now() + skew;
    const metrics = createMetrics();
    const lag = watchLoopLag(clock, metrics, silentLogger, 1_000);
    await clock.advance(2_000);
    expect(lag.check.problem()).to.equal(undefined);
    skew = 3_000;
    expect(lag.check.problem()).to.contain('blocked');
    expect(await metrics.text()).to.match(/espalier_event_loop_lag_seconds [23]/);
    await clock.advance(500);
    expect(lag.check.problem()).to.contain('3000 ms');
    skew = 0;
    await clock.advance(4_000);
    expect(lag.check.problem()).to.equal(undefined);
    lag.stop();
    expect(clock.pending).to.equal(0);
  });
});
