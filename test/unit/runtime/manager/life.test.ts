/** The steps of a manager's life and their errors; what happens to reconciles meanwhile is in draining.test.ts. */
import { expect } from 'chai';
import { seededRng } from '../../../../src/lib/rng.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import type { Share } from '../../../../src/runtime/controller/share.ts';
import {
  apiErrorFrom,
  DefinitionError,
  LeadershipLostError,
  ShutdownError,
  SourceError,
} from '../../../../src/runtime/errors.ts';
import { createManager, type ManagerOptions } from '../../../../src/runtime/manager/manager.ts';
import { leaseKind } from '../../../../src/runtime/manager/lease.ts';
import type { Cache, Caches, Kind, Obj, Page, Query } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { createWorld, nothing, parts, succeeding, taking, widget, widgets } from '../support/world.ts';

interface FakeCacheState {
  readonly name: string;
  isSynced: boolean;
  problem?: string;
}

/** A manager without controllers, on caches that a test completes. */
function createBare(options: Partial<ManagerOptions> = {}) {
  const clock = new FakeClock();
  const cluster = new FakeCluster();
  const { log, lines } = recordingLogger();
  const states: FakeCacheState[] = [{ name: 'pods', isSynced: false }];
  let complete: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const starts: AbortSignal[] = [];
  const caches = {
    all: () => states as unknown as Iterable<Cache<Obj>>,
    start(signal: AbortSignal) {
      starts.push(signal);
      return new Promise<void>((resolve, reject) => {
        complete = resolve;
        fail = reject;
      });
    },
  } as unknown as Caches;
  const manager = createManager({
    client: cluster,
    caches,
    clock,
    rng: seededRng(1),
    log,
    metrics: createMetrics(),
    identity: 'me',
    ...options,
  });
  const outcome = (): Promise<unknown> =>
    manager.start().then(
      () => 'started',
      (error: unknown) => error,
    );
  return {
    clock,
    cluster,
    lines,
    states,
    starts,
    manager,
    outcome,
    complete: () => {
      for (const state of states) state.isSynced = true;
      complete();
    },
    fail: (error: Error) => fail(error),
  };
}

describe('the start of a manager', () => {
  it('is over when the caches are filled', async () => {
    const { manager, outcome, complete, lines, starts, clock } = createBare();
    expect([manager.ready, manager.checks.map((check) => check.problem())]).to.deep.equal([
      false,
      [undefined, 'the manager has not started', 'pods is not synced'],
    ]);
    const started = outcome();
    await settle();
    expect([manager.ready, manager.checks.map((check) => check.problem())]).to.deep.equal([
      false,
      [undefined, undefined, 'pods is not synced'],
    ]);
    complete();
    expect([await started, manager.ready, starts.length]).to.deep.equal(['started', true, 1]);
    expect(lines).to.deep.equal([
      { level: 'info', message: 'controllers started', fields: { controllers: 0 } },
    ]);
    expect(manager.checks.map(({ name, probe }) => `${name} ${probe}`)).to.deep.equal([
      'event-loop live',
      'started ready',
      'sources ready',
    ]);
    await manager.stop();
    expect([manager.ready, clock.pending]).to.deep.equal([false, 0]);
  });

  it('happens once', async () => {
    const { manager, outcome, complete } = createBare();
    const started = outcome();
    expect(String(await outcome())).to.equal('DefinitionError: the manager can be started only once');
    complete();
    await started;
    expect(await outcome()).to.be.instanceOf(DefinitionError);
    await manager.stop();
  });

  it('fails when a cache fails', async () => {
    const { outcome, fail, manager } = createBare();
    const started = outcome();
    const error = new Error('forbidden');
    await settle();
    fail(error);
    expect(await started).to.equal(error);
    await manager.stop();
  });

  it('fails with an error when something else is thrown', async () => {
    const { outcome, fail, manager } = createBare();
    const started = outcome();
    await settle();
    fail('forbidden' as unknown as Error);
    expect(String(await started)).to.equal('Error: forbidden');
    await manager.stop();
  });

  const late: readonly (readonly [string, readonly FakeCacheState[], string, string])[] = [
    [
      'names a cache that is late',
      [{ name: 'pods', isSynced: false }],
      'pods',
      'not synced within 120 s: pods',
    ],
    [
      'names all that are late, and why',
      [
        { name: 'pods', isSynced: false, problem: 'forbidden' },
        { name: 'jobs', isSynced: true, problem: 'x' },
        { name: 'nodes', isSynced: false },
      ],
      ...(['pods (forbidden), nodes', 'not synced within 120 s: pods (forbidden), nodes'] as const),
    ],
    [
      'reports a late source that is not a cache',
      [{ name: 'pods', isSynced: true }],
      ...(['', 'not synced within 120 s: a source that is not a cache'] as const),
    ],
  ];
  for (const [title, states, source, message] of late)
    it(`fails after two minutes and ${title}`, async () => {
      const scene = createBare();
      scene.states.splice(0, 1, ...states);
      const started = scene.outcome();
      await scene.clock.advance(119_999);
      await scene.clock.advance(1);
      const error = await started;
      expect(error).to.be.instanceOf(SourceError);
      expect([(error as SourceError).source, (error as Error).message]).to.deep.equal([source, message]);
      await scene.manager.stop();
    });

  it('waits for the configured time', async () => {
    const { clock, outcome, manager } = createBare({ syncTimeoutMs: 500 });
    const started = outcome();
    await clock.advance(500);
    expect(await started).to.have.property('message', 'not synced within 0.5 s: pods');
    await manager.stop();
  });

  it('ends with the process, whatever the caches say about it', async () => {
    const { manager, outcome, fail, starts } = createBare();
    const started = outcome();
    await settle();
    const stopped = manager.stop();
    fail(new Error('aborted'));
    expect(await started)
      .to.be.instanceOf(ShutdownError)
      .with.property('message', 'process stopping');
    expect(starts[0]?.aborted).to.equal(true);
    await stopped;
  });

  it('starts each cache if they have no start of their own', async () => {
    const started: string[] = [];
    const cache = (name: string) => ({
      name,
      isSynced: true,
      start: () => {
        started.push(name);
        return Promise.resolve();
      },
    });
    const caches = { all: () => [cache('pods'), cache('jobs')] } as unknown as Caches;
    const { manager } = createBare({ caches });
    await manager.start();
    expect(started).to.deep.equal(['pods', 'jobs']);
    await manager.stop();
  });
});

describe('a manager of a share of the work', () => {
  const create = (refusal?: Error) => {
    const story: string[] = [];
    let revisit: Parameters<Share['join']>[0] | undefined;
    const share: Share = {
      admit: () => ({ is: 'foreign' }),
      fence: () => {
        if (refusal) throw refusal;
      },
      holds: () => false,
      handles: () => false,
      hasMoved: () => false,
      catchUp: () => Promise.resolve(),
      join: (again, signal) => {
        story.push(`join, ${signal.aborted ? 'aborted' : 'live'}`);
        revisit = again;
        return Promise.resolve();
      },
      leave: (isClean) => {
        story.push(`leave ${isClean ? 'clean' : 'unclean'}`);
        return Promise.resolve();
      },
    };
    return {
      share,
      story,
      revisit: () => revisit,
    };
  };

  it('joins when the caches are filled, and leaves in the end', async () => {
    const { share, story } = create();
    const { manager, outcome, complete } = createBare({ share });
    const started = outcome();
    await settle();
    expect(story).to.deep.equal([]);
    complete();
    await started;
    await manager.stop();
    expect(story).to.deep.equal(['join, live', 'leave clean']);
  });

  it('writes nothing when the share does not allow it', async () => {
    const refusal = new LeadershipLostError({ message: 'no' });
    const { manager, cluster } = createBare({ share: create(refusal).share });
    const write = manager.writer('me')({ verb: 'delete', kind: widgets, key: 'A/1' });
    expect(await write.catch((error: unknown) => error)).to.equal(refusal);
    manager.recorder.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
      component: 'c',
      type: 'Normal',
      reason: 'R',
      note: 'n',
    });
    await manager.recorder.flush();
    expect(cluster.requests).to.deep.equal([]);
    await manager.stop();
  });

  it('looks at objects again that have become its own, of one kind or of all', async () => {
    const { share, revisit } = create();
    const world = createWorld({ share });
    const seen: string[] = [];
    const watching = (kind: Kind) =>
      world.manager.add<Obj>({
        name: kind.plural,
        kind,
        generation: 'off',
        reconciler: { reconcile: () => Promise.resolve(nothing) },
        filter: {
          add: (obj) => {
            seen.push(`${obj.kind} ${obj.metadata.name}`);
            return false;
          },
        },
      });
    watching(widgets);
    watching(parts);
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(widgets, widget('A/2'));
    world.cluster.put(parts, { metadata: { namespace: 'A', name: 'p' } });
    await world.start();
    seen.length = 0;
    revisit()?.all(({ metadata }) => metadata.name !== '2');
    expect(seen.splice(0)).to.deep.equal(['Widget 1', 'Part p']);
    const part = (await world.cluster.get(parts, 'A/p')) as Obj;
    revisit()?.one(parts as Kind<never>, part);
    expect(seen.splice(0)).to.deep.equal(['Part p']);
    await world.end();
  });

  it('leaves uncleanly while reconciles go on', async () => {
    const { share, story } = create();
    const world = createWorld({
      share: {
        ...share,
        admit: () => ({
          is: 'ours',
          begin: () => ({ fence: () => undefined, around: (write) => write, end: () => undefined }),
        }),
      },
    });
    world.control(taking(world.clock, 60_000));
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.end();
    expect([story.at(-1), world.manager.unfinished]).to.deep.equal(['leave unclean', 1]);
  });
});

describe('the end of a manager', () => {
  it('is one, however often it is asked for', async () => {
    const { manager, lines } = createBare();
    expect(manager.stop()).to.equal(manager.stop());
    await manager.stop();
    expect(lines).to.deep.equal([{ level: 'info', message: 'stopped', fields: {} }]);
  });

  it('reports reconciles that did not end in time', async () => {
    const { log, lines } = recordingLogger();
    const world = createWorld({ log, drainMs: 1_000 });
    world.control(taking(world.clock, 60_000));
    for (const key of ['A/1', 'A/2']) world.cluster.put(widgets, widget(key));
    await world.start();
    const stopped = world.manager.stop();
    await world.clock.advance(999);
    expect(world.manager.unfinished).to.equal(0);
    await world.clock.advance(1);
    await stopped;
    expect(world.manager.unfinished).to.equal(2);
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([
      {
        level: 'error',
        message: 'some reconciles did not end in time and were abandoned',
        fields: { runs: 2, objects: ['widgets A/1', 'widgets A/2'] },
      },
    ]);
    await world.clock.advance(60_000);
  });

  it('blocks writes, and says why', async () => {
    const { manager } = createBare();
    const write = manager.writer('me');
    await manager.stop();
    const error: unknown = await write({ verb: 'delete', kind: widgets, key: 'A/1' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error)
      .to.be.instanceOf(ShutdownError)
      .with.property('message', 'writes are blocked because the process is stopping');
  });

  it('does not wait for events longer than for reconciles', async () => {
    const { manager, clock, cluster } = createBare({ drainMs: 1_000 });
    cluster.before = () => new Promise(() => undefined);
    manager.recorder.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
      component: 'c',
      type: 'Normal',
      reason: 'R',
      note: 'n',
    });
    let isOver = false;
    void manager.stop().then(() => (isOver = true));
    await clock.advance(999);
    expect(isOver).to.equal(false);
    await clock.advance(1);
    expect(isOver).to.equal(true);
  });
});

describe('a manager that loses its lease', () => {
  it('ends all reconciles, begins none and reports it', async () => {
    const lost: Error[] = [];
    const world = createWorld({
      lease: { namespace: 'system', name: 'lead', onLost: (error) => lost.push(error) },
    });
    const aborted: unknown[] = [];
    const controller = world.control(
      (_, ctx) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => {
            aborted.push(ctx.signal.reason);
            reject(ctx.signal.reason as Error);
          });
        }),
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    world.cluster.edit(leaseKind, 'system/lead', { spec: { holderIdentity: 'other' } });
    await world.clock.advance(5_000);
    expect([lost.length, aborted]).to.deep.equal([1, lost]);
    world.cluster.put(widgets, widget('A/2'));
    controller.enqueue('A/1');
    await world.clock.advance(10_000);
    expect(world.runs).to.have.length(1);
    await world.end();
  });

  it('takes times and a client of its own for the lease', async () => {
    const own = new FakeCluster();
    const world = createWorld({
      lease: { namespace: 'system', name: 'lead', client: own, durationMs: 60_000, onLost: () => undefined },
    });
    world.control(succeeding);
    await world.start();
    expect(world.cluster.requests).to.deep.equal([]);
    expect(own.read(leaseKind, 'system/lead')?.spec).to.deep.include({
      leaseDurationSeconds: 60,
      holderIdentity: 'test-0',
    });
    await world.end();
  });
});

describe('a controller of a manager', () => {
  it('has a name of its own, and comes before the start', async () => {
    const world = createWorld();
    world.control(succeeding);
    expect(() => world.control(succeeding)).to.throw(DefinitionError, 'two controllers are named widgets');
    expect(() => world.control(succeeding, { name: 'other' })).not.to.throw();
    await world.start();
    expect(() => world.control(succeeding, { name: 'late' })).to.throw(
      DefinitionError,
      'controller late was added after the manager had started',
    );
    await world.end();
  });
});

describe('a manager that skips what it cannot read', () => {
  const stage = () => {
    const world = createWorld({ unreadable: 'skip' });
    let isAllowed = false;
    const { list } = world.cluster;
    world.cluster.list = async function* <T extends Obj>(kind: Kind<T>, query: Query, signal?: AbortSignal) {
      if (kind.kind === 'Part' && !isAllowed)
        throw apiErrorFrom(403, { reason: 'Forbidden', message: 'no' }, { verb: 'list', kind: 'Part' });
      yield* list.call(world.cluster, kind, query, signal) as AsyncIterable<Page<T>>;
    };
    const partRuns: string[] = [];
    world.control(succeeding);
    world.manager.add({
      name: 'parts',
      kind: parts,
      generation: 'off',
      reconciler: {
        reconcile(part) {
          partRuns.push(part.metadata.name);
          return Promise.resolve({ write: 'none' });
        },
      },
    });
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(parts, { metadata: { namespace: 'A', name: 'p' } });
    return { world, partRuns, allow: () => (isAllowed = true) };
  };

  it('starts the other controllers, names the kind in readiness, and starts the late one when it is allowed', async () => {
    const { world, partRuns, allow } = stage();
    const started = world.manager.start();
    await world.clock.advance(11_000);
    await started;
    expect([world.runs.length, partRuns, world.manager.ready]).to.deep.equal([1, [], false]);
    const problems = world.manager.checks.map((check) => check.problem()).join();
    expect(problems).to.include('parts.example.io is not synced');
    allow();
    await world.clock.advance(60_000);
    expect([partRuns, world.manager.ready]).to.deep.equal([['p'], true]);
    await world.end();
  });

  it('can be stopped while a controller waits', async () => {
    const { world } = stage();
    const started = world.manager.start();
    await world.clock.advance(11_000);
    await started;
    await world.end();
    expect(world.manager.unfinished).to.equal(0);
  });
});
