import { expect } from 'chai';
import { DefinitionError, ShutdownError } from '../../../src/runtime/errors.ts';
import { leaseKind } from '../../../src/runtime/manager/lease.ts';
import { watchSource } from '../../../src/runtime/sources/sources.ts';
import { settle } from '../../support/clock.ts';
import { createWorld, nothing, parts, succeeding, widget, widgets } from './support/world.ts';

describe('the manager', () => {
  it('RUN-121: drains for 30 s, then aborts running reconciles, flushes events and releases the lease', async () => {
    const world = createWorld({ lease: { namespace: 'system', name: 'lead', onLost: () => undefined } });
    const { clock, cluster } = world;
    const story: string[] = [];
    const log = (what: string) => story.push(`${String(clock.now() / 1_000)} ${what}`);
    const controller = world.control((_, ctx) => {
      const ms = ctx.key === 'A/short' ? 5_000 : 60_000;
      ctx.event('Normal', 'Started', 'It has begun.');
      return new Promise((resolve, reject) => {
        clock.at(clock.now() + ms, () => {
          log(`${ctx.key} ended`);
          resolve(nothing);
        });
        ctx.signal.addEventListener('abort', () => {
          log(`${ctx.key} aborted`);
          reject(ctx.signal.reason as Error);
        });
      });
    });
    for (const key of ['A/short', 'A/long', 'A/idle']) cluster.put(widgets, widget(key));
    await world.start();
    world.runs.length = 0;
    const stopped = world.manager.stop().then(() => log('stopped'));
    controller.enqueue('A/idle');
    cluster.edit(widgets, 'A/short', { spec: { size: 2 } });
    await clock.advance(40_000);
    await stopped;
    expect(story.slice(0, 2)).to.deep.equal(['5 A/short ended', '30 A/long aborted']);
    expect(story.at(-1)).to.match(/^30 stopped/);
    expect(world.runs).to.deep.equal([]);
    expect(world.manager.unfinished).to.be.greaterThan(0);
    expect(cluster.read(leaseKind, 'system/lead')?.spec?.holderIdentity).to.equal(undefined);
    expect(cluster.writes.filter((write) => write.startsWith('create Event'))).to.have.length(3);
    await clock.advance(60_000);
  });

  it('RUN-121: stops cleanly if all reconciles have ended', async () => {
    const world = createWorld();
    const { clock } = world;
    world.control(
      () =>
        new Promise((resolve) =>
          clock.at(clock.now() + 5_000, () => {
            resolve(nothing);
          }),
        ),
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    let stoppedAt: number | undefined;
    const stopped = world.manager.stop().then(() => (stoppedAt = clock.now()));
    await clock.advance(40_000);
    await stopped;
    expect(stoppedAt).to.equal(5_000);
    expect(world.manager.unfinished).to.equal(0);
    expect(clock.pending).to.equal(0);
  });

  it('stops during a start', async () => {
    const world = createWorld();
    world.cluster.silent.add('Widget');
    world.control(succeeding);
    const error = world.manager.start().catch((thrown: unknown) => thrown);
    await settle();
    await world.manager.stop();
    expect(await error).to.be.instanceOf(ShutdownError);
    expect(world.clock.pending).to.equal(0);
  });

  it('can be stopped twice, and before it was started', async () => {
    const world = createWorld();
    await world.manager.stop();
    await world.manager.stop();
    expect(world.clock.pending).to.equal(0);
  });

  it('requires controllers with unique names, added before the start', async () => {
    const world = createWorld();
    world.control(succeeding);
    expect(() => world.control(succeeding)).to.throw(DefinitionError, 'widgets');
    await world.start();
    expect(() => world.control(succeeding, { name: 'late' })).to.throw(DefinitionError, 'late');
    await world.end();
  });

  it('starts primaries first, then the rest, then the reconciles', async () => {
    const world = createWorld();
    const story: string[] = [];
    world.control(
      () => {
        story.push('run');
        return Promise.resolve(nothing);
      },
      {
        sources: [
          {
            name: 'state',
            stage: 'state',
            attach: (host) => ({
              start() {
                story.push(`state, primaries ${host.primaries.isSynced ? 'there' : 'missing'}`);
                return Promise.resolve();
              },
              of: () => [],
            }),
          },
          {
            name: 'normal',
            stage: 'normal',
            attach: () => ({
              start() {
                story.push('normal');
                return Promise.resolve();
              },
              of: () => [],
            }),
          },
        ],
      },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(story).to.deep.equal(['state, primaries there', 'normal', 'run']);
    await world.end();
  });

  it('fills caches without a controller, and lets other code write through them', async () => {
    const world = createWorld();
    const cache = world.caches.of(parts);
    world.cluster.put(parts, { metadata: { namespace: 'A', name: 'p' } });
    await world.start();
    expect(cache.size).to.equal(1);
    const object = { apiVersion: 'example.io/v1', kind: 'Part', metadata: { namespace: 'A', name: 'q' } };
    await world.manager.writer('test')({ verb: 'create', kind: parts, object });
    expect(cache.get('A/q')).to.not.equal(undefined);
    await world.end();
  });

  it('shares one watch among controllers of one kind, and hides from each only its own echoes', async () => {
    const world = createWorld();
    const heard: string[] = [];
    world.control(async (_, ctx) => {
      if (world.runs.length === 1) {
        const body = { metadata: { resourceVersion: '101', labels: { a: 'b' } } };
        await ctx.write({ verb: 'merge', kind: widgets, key: ctx.key, body, lock: true });
      }
      return nothing;
    });
    world.control(succeeding, {
      name: 'listener',
      reconciler: {
        reconcile(primary) {
          heard.push(primary.metadata.labels?.['a'] ?? 'none');
          return Promise.resolve(nothing);
        },
      },
      sources: [watchSource({ name: 'same', cache: world.caches.of(widgets), toPrimary: () => [] })],
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(world.runs).to.have.length(1);
    expect(heard).to.deep.equal(['none', 'b']);
    expect(world.cluster.watches).to.deep.equal(['Widget']);
    await world.end();
  });
});
