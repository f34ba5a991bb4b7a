/** Any controller, with replicas that share its objects: what moves with an object, what stays, and what is refused. */
import { expect } from 'chai';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import type { ControllerSpec } from '../../../../src/runtime/controller/controller.ts';
import { apiErrorFrom, DefinitionError, Forbidden, TransportError } from '../../../../src/runtime/errors.ts';
import { requireLeaseRights } from '../../../../src/runtime/fleet/lease-rights.ts';
import { createSharing, type Sharing } from '../../../../src/runtime/fleet/sharing.ts';
import type { LeaseSettings } from '../../../../src/runtime/manager/manager.ts';
import { cachingInboundSource, inboundSource } from '../../../../src/runtime/sources/inbound.ts';
import { perResourceSource, pollSource } from '../../../../src/runtime/sources/polling.ts';
import type { Client, Write } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { createWorld, nothing, widget, widgets, type Reconcile, type Widget } from '../support/world.ts';

const KEYS = Array.from({ length: 20 }, (_, i) => `A/${String(i)}`);

describe('replicas that share the objects of a controller', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  let replicas: Replica[];
  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster();
    replicas = [];
    for (const key of KEYS) cluster.put(widgets, widget(key));
  });
  afterEach(async () => {
    const stopped = replicas.map(({ world }) => world.manager.stop());
    await clock.advance(61_000);
    await Promise.all(stopped);
  });

  interface Replica {
    readonly world: ReturnType<typeof createWorld>;
    /** `reconcile A/1`, `forget A/1`, `poll`: what happened, in order. */
    readonly story: string[];
    /** The error for requests about Leases. */
    leaseFault: (write: Write) => Error | undefined;
    work: Reconcile;
    start(): Promise<void>;
  }

  const create = (
    name: string,
    more: {
      readonly sharing?: Sharing;
      readonly spec?: (replica: Replica) => Partial<ControllerSpec<Widget>>;
      readonly lease?: LeaseSettings;
    } = {},
  ): Replica => {
    const client: Client = {
      get: (kind, key, signal) => cluster.get(kind, key, signal),
      list: (kind, query, signal) => cluster.list(kind, query, signal),
      watch: (kind, query, signal) => cluster.watch(kind, query, signal),
      send: (write, signal) => {
        const fault = write.kind.kind === 'Lease' ? replica.leaseFault(write) : undefined;
        return fault ? Promise.reject(fault) : cluster.send(write, signal);
      },
      raw: () => cluster.raw(),
      close: () => cluster.close(),
    };
    const share = createSharing(more.sharing ?? {}, {
      client,
      clock,
      rng: seededRng(name.length),
      log: silentLogger,
      metrics: createMetrics(),
      namespace: 'system',
      name: 'widgets',
      identity: name,
      clusters: () => [{ client, caches: world.caches }],
    });
    const { lease } = more;
    const world = createWorld({ cluster, clock, client, identity: name, share, ...(lease && { lease }) });
    const story: string[] = [];
    const replica: Replica = {
      world,
      story,
      leaseFault: () => undefined,
      work: () => Promise.resolve(nothing),
      async start() {
        const started = world.manager.start();
        await settle();
        await started;
        await clock.advance(2_000);
      },
    };
    world.control(() => Promise.resolve(nothing), {
      reconciler: {
        reconcile(primary, ctx) {
          story.push(`reconcile ${ctx.key}`);
          return replica.work(primary, ctx);
        },
        forget: ({ metadata }) => void story.push(`forget A/${metadata.name}`),
      },
      ...more.spec?.(replica),
    });
    replicas.push(replica);
    return replica;
  };
  const reconciled = ({ story }: Replica): string[] =>
    story.filter((line) => line.startsWith('reconcile ')).map((line) => line.slice('reconcile '.length));
  const clear = (): void => {
    for (const { story } of replicas) story.length = 0;
  };
  const started = async (...all: readonly Replica[]): Promise<void> => {
    for (const each of all) await each.start();
  };

  describe('what a process remembers', () => {
    it('is dropped before it handles an object again, and only then', async () => {
      const [a, b] = [create('a'), create('bb')];
      await started(a, b);
      const moved = reconciled(b);
      expect(moved.length).to.be.within(1, KEYS.length - 1);
      expect(a.story.filter((line) => line.startsWith('forget'))).to.deep.equal([]);
      clear();
      await b.world.manager.stop();
      await clock.advance(2_000);
      expect([...new Set(reconciled(a))].sort()).to.deep.equal([...moved].sort());
      for (const key of moved) {
        expect(a.story, key).to.include(`forget ${key}`);
        expect(a.story.indexOf(`forget ${key}`), key).to.be.lessThan(a.story.indexOf(`reconcile ${key}`));
      }
      expect(a.story.filter((line) => line.startsWith('forget'))).to.have.length(moved.length);
    });

    it('is dropped after a reconcile that was aborted because the object was lost', async () => {
      const a = create('a');
      await started(a);
      const key = KEYS[0] ?? '';
      let end = (): void => undefined;
      a.work = (_, ctx) =>
        new Promise((resolve) => {
          if (ctx.key === key) end = () => resolve(nothing);
          else resolve(nothing);
        });
      cluster.edit(widgets, key, { spec: { size: 2 } });
      await settle();
      a.leaseFault = () => new TransportError({ message: 'connection refused', safeToRepeat: true });
      await clock.advance(20_000);
      a.leaseFault = () => undefined;
      await clock.advance(20_000);
      clear();
      end();
      await settle();
      expect(a.story[0]).to.equal(`forget ${key}`);
      expect(reconciled(a)).to.include(key);
    });
  });

  describe('an object that moves to another replica', () => {
    it('is reconciled once by it, even if its generation is not new', async () => {
      for (const key of KEYS) cluster.edit(widgets, key, { status: { observedGeneration: 1 } }, 'status');
      const spec = () => ({ generation: 'status' }) as const;
      const [a, b] = [create('a', { spec }), create('bb', { spec })];
      await started(a);
      clear();
      await started(b);
      expect(reconciled(b).length).to.be.within(1, KEYS.length - 1);
      expect(new Set(reconciled(b)).size).to.equal(reconciled(b).length);
      expect(reconciled(a)).to.deep.equal([]);
    });

    it('is not reconciled if the filter of the author refuses it', async () => {
      const filter = { add: ({ metadata }: { metadata: { name: string } }) => metadata.name !== '3' };
      const a = create('a', { spec: () => ({ filter }) });
      await started(a);
      expect(reconciled(a).sort()).to.deep.equal(KEYS.filter((key) => key !== 'A/3').sort());
    });

    it('is retried by it from the first attempt', async () => {
      const attempts: string[] = [];
      const failing =
        (name: string): Reconcile =>
        (_, ctx) => {
          attempts.push(`${name} ${ctx.key} ${String(ctx.attempt)}`);
          return Promise.reject(new Error('no'));
        };
      const [a, b] = [create('a'), create('bb')];
      a.work = failing('a');
      b.work = failing('bb');
      await started(a);
      await clock.advance(8_000);
      await started(b);
      const ofB = attempts.filter((line) => line.startsWith('bb'));
      expect(ofB[0]).to.match(/ 0$/);
    });
  });

  describe('places', () => {
    const byLabel: Sharing = { place: ({ metadata }) => metadata.labels?.['tenant'] ?? '' };
    const label = (key: string, tenant: string): void => {
      cluster.edit(widgets, key, { metadata: { labels: { tenant } } });
    };

    it('keep objects together', async () => {
      for (const [i, key] of KEYS.entries()) label(key, `tenant-${String(i % 5)}`);
      const all = ['a', 'bb', 'ccc'].map((name) => create(name, { sharing: byLabel }));
      await started(...all);
      clear();
      for (const key of KEYS) cluster.edit(widgets, key, { spec: { size: 7 } });
      await settle();
      const by = (key: string): Replica[] => all.filter((each) => reconciled(each).includes(key));
      for (const [i, key] of KEYS.entries()) expect(by(key), key).to.deep.equal(by(KEYS[i % 5] ?? ''));
      expect(all.flatMap(reconciled)).to.have.length(KEYS.length);
    });

    it('may change: the new replica reconciles the object, whatever the filter says', async () => {
      for (const key of KEYS) label(key, 'x');
      const spec = () => ({ generation: 'memory' }) as const;
      const all = ['a', 'bb'].map((name) => create(name, { sharing: byLabel, spec }));
      await started(...all);
      const ofX = all.findIndex((each) => reconciled(each).length > 0 && reconciled(each).includes('A/0'));
      clear();
      // Half of the places belong to the other replica, so one of ten certainly does with this hash.
      for (let i = 0; i < 10; i++) {
        label('A/0', `y${String(i)}`);
        await settle();
      }
      const other = all[1 - ofX];
      expect(other && reconciled(other)).to.include('A/0');
    });

    it('that cannot be determined delay the object, and no other', async () => {
      let isBroken = true;
      const sharing: Sharing = {
        place({ metadata }) {
          if (isBroken && metadata.name === '5') throw new Error('no place');
          return metadata.name;
        },
      };
      const a = create('a', { sharing });
      await started(a);
      expect([...new Set(reconciled(a))].sort()).to.deep.equal(KEYS.filter((key) => key !== 'A/5').sort());
      isBroken = false;
      await clock.advance(2_000);
      expect(reconciled(a)).to.include('A/5');
    });
  });

  describe('sources', () => {
    it('that poll for each primary do so in one replica', async () => {
      const polls: string[] = [];
      const spec = (name: string) => () => ({
        sources: [
          perResourceSource<number, Widget>({
            name: 'poll',
            delayMs: () => 1_000,
            fetch: ({ metadata }) => {
              polls.push(`${name} A/${metadata.name}`);
              return Promise.resolve([1]);
            },
          }),
        ],
      });
      const [a, b] = [create('a', { spec: spec('a') }), create('bb', { spec: spec('bb') })];
      await started(a, b);
      await clock.advance(1_500);
      polls.length = 0;
      await clock.advance(1_000);
      expect(polls).to.have.length(KEYS.length);
      expect(new Set(polls.map((line) => line.split(' ')[1])).size).to.equal(KEYS.length);
      expect(new Set(polls.map((line) => line.split(' ')[0])).size).to.equal(2);
    });

    it('that poll for all primaries poll again before a replica takes over, which waits for the answer', async () => {
      let isDown = false;
      const spec = (replica: Replica) => ({
        sources: [
          pollSource<number>({
            name: 'poll',
            everyMs: 3_600_000,
            fetch: () => {
              replica.story.push('poll');
              return isDown ? Promise.reject(new Error('down')) : Promise.resolve(new Map());
            },
          }),
        ],
      });
      const [a, b] = [create('a', { spec }), create('bb', { spec })];
      await started(a, b);
      clear();
      isDown = true;
      await b.world.manager.stop();
      await clock.advance(3_000);
      expect(a.story).to.include('poll');
      expect(reconciled(a)).to.deep.equal([]);
      isDown = false;
      await clock.advance(2_000);
      expect(reconciled(a).length).to.be.greaterThan(0);
      expect(a.story.lastIndexOf('poll')).to.be.lessThan(
        a.story.findIndex((line) => line.startsWith('reconcile')),
      );
    });

    const local = [inboundSource('hook'), cachingInboundSource<number, Widget>({ name: 'push' })];
    for (const source of local)
      it(`whose events reach one replica only are refused: ${source.name}`, async () => {
        expect(() => create('a', { spec: () => ({ sources: [source] }) })).to.throw(
          DefinitionError,
          `controller widgets: source ${source.name} raises events in one process only`,
        );
        replicas = [];
        const late = create('bb');
        const controller = late.world.control(() => Promise.resolve(nothing), { name: 'others' });
        const error: unknown = await controller.addSource(source).catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(DefinitionError);
      });

    it('whose events reach every replica are handled by the one that is responsible', async () => {
      const hooks = [1, 2].map(() => inboundSource('hook', { everyReplica: true }));
      const all = hooks.map((hook, i) => create('a'.repeat(i + 1), { spec: () => ({ sources: [hook] }) }));
      await started(...all);
      clear();
      for (const hook of hooks) for (const key of KEYS) hook.emit(key);
      await settle();
      expect(all.flatMap(reconciled).sort()).to.deep.equal([...KEYS].sort());
    });
  });

  describe('permissions for Leases', () => {
    const client = (answer: (verb: string) => unknown): Client => {
      const raw: Client['raw'] = (_method, _path, body) => {
        const { resourceAttributes } = (body as { spec: { resourceAttributes: { verb: string } } }).spec;
        return Promise.resolve(answer(resourceAttributes.verb));
      };
      return { raw } as Partial<Client> as Client;
    };
    const ask = (answer: (verb: string) => unknown) => {
      const state: { result?: unknown } = {};
      const ports = { client: client(answer), clock, namespace: 'system' };
      requireLeaseRights(ports, new AbortController().signal).then(
        () => (state.result = 'fine'),
        (error: unknown) => (state.result = error),
      );
      return state;
    };

    it('that are missing after ten seconds are named', async () => {
      const state = ask((verb) => ({ status: { allowed: verb !== 'update' && verb !== 'watch' } }));
      await clock.advance(9_000);
      expect(state.result).to.equal(undefined);
      await clock.advance(2_000);
      expect(state.result).to.be.instanceOf(Forbidden);
      expect(String(state.result)).to.include(
        'need permission to watch, update leases.coordination.k8s.io in namespace system; grant it to this process with a Role',
      );
    });

    it('may be granted a moment after the start', async () => {
      let isGranted = false;
      const state = ask(() => ({ status: { allowed: isGranted } }));
      await clock.advance(5_000);
      isGranted = true;
      await clock.advance(1_000);
      expect(state.result).to.equal('fine');
    });

    for (const [what, answer] of [
      ['has all of them', () => ({ status: { allowed: true } })],
      ['cannot tell', () => ({})],
      [
        'does not know the request',
        () => {
          throw new Error('404');
        },
      ],
    ] as const)
      it(`are not missing if the server ${what}`, async () => {
        const state = ask(answer);
        await settle();
        expect(state.result).to.equal('fine');
      });
  });

  describe('options', () => {
    it('whose times do not fit together are refused', () => {
      const sharing = { renewDeadlineMs: 20_000 };
      expect(() => create('a', { sharing })).to.throw(
        DefinitionError,
        'must satisfy renewMs < renewDeadlineMs < durationMs, but are 3000, 20000 and 15000',
      );
    });

    it('with a lease at the same time are refused', () => {
      const lease = { namespace: 'system', name: 'widgets', onLost: () => undefined };
      expect(() => create('a', { lease })).to.throw(DefinitionError, 'lease and sharing exclude each other');
    });
  });

  it('fail at the start if they may not write Leases, and name the request', async () => {
    const a = create('a');
    a.leaseFault = ({ verb }) =>
      apiErrorFrom(403, { message: 'leases is forbidden' }, { verb, kind: 'Lease' });
    const failed: unknown = await Promise.race([
      a.world.manager.start().catch((error: unknown) => error),
      clock.advance(20_000).then(() => undefined),
    ]);
    expect(String(failed)).to.match(/Forbidden.*leases is forbidden/);
  });
});
