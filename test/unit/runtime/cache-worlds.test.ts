import { expect } from 'chai';
import { seededRng, type Rng } from '../../../src/lib/rng.ts';
import type { Change, WriteTicket } from '../../../src/runtime/types.ts';
import type { WatchCache } from '../../../src/runtime/cache/watch-cache.ts';
import { settle } from '../../support/clock.ts';
import { statusError, thing, type ScriptedApi, type Thing } from '../../support/scripted-api.ts';
import { harness } from './harness.ts';

/** Seeds are interleavings; a failing one is printed and can be run separately. */
const SEEDS = 300;
const STEPS = 60;
const NAMES = ['a', 'b', 'c'];

interface Open {
  readonly key: string;
  readonly ticket: WriteTicket<Thing>;
  readonly answer: Thing | undefined;
  readonly conditional: boolean;
}

interface World {
  readonly api: ScriptedApi;
  readonly cache: WatchCache<Thing>;
  readonly rng: Rng;
  readonly open: Open[];
  /** The state that the writer knows, from events and its own writes. */
  readonly belief: Map<string, string>;
  readonly foreign: Set<string>;
  readonly echoes: string[];
  readonly own: Set<string>;
  uid: number;
}

const pick = <T>(rng: Rng, list: readonly T[]): T => list[Math.floor(rng.next() * list.length)] as T;

function next(world: World, name: string): Thing {
  const present = world.api.objects.get(`ns/${name}`);
  const uid = present?.metadata.uid ?? `uid-${String(++world.uid)}`;
  return thing(name, { uid, spec: { n: world.api.version } });
}

const steps: Record<string, (world: World) => void> = {
  foreignWrite(world) {
    const object = world.api.put(next(world, pick(world.rng, NAMES)));
    world.foreign.add(object.metadata.resourceVersion as string);
  },
  foreignDelete(world) {
    const name = pick(world.rng, NAMES);
    if (world.api.objects.has(`ns/${name}`)) world.api.remove(`ns/${name}`);
  },
  beginWrite(world) {
    const name = pick(world.rng, NAMES);
    const key = `ns/${name}`;
    const ticket = world.cache.begin(key, 'me');
    const kind = pick(world.rng, ['changes', 'changes', 'changes', 'nothing', 'fails']);
    const present = world.api.objects.get(key);
    if (kind === 'changes') {
      const answer = world.api.put(next(world, name));
      world.own.add(answer.metadata.resourceVersion as string);
      world.open.push({ key, ticket, answer, conditional: true });
    } else if (kind === 'nothing' && present) {
      world.open.push({ key, ticket, answer: structuredClone(present), conditional: false });
    } else {
      world.open.push({ key, ticket, answer: undefined, conditional: false });
    }
  },
  answer(world) {
    const open = world.open.splice(Math.floor(world.rng.next() * world.open.length), 1)[0];
    if (!open) return;
    if (open.answer) open.ticket.done(open.answer, open.conditional);
    else open.ticket.failed();
  },
  hold(world) {
    world.api.isHeld = true;
  },
  release(world) {
    world.api.release();
  },
  drop(world) {
    world.api.drop(world.rng.next() < 0.5 ? undefined : statusError(500));
  },
  dropAndCompact(world) {
    world.api.compact();
    world.api.drop();
  },
  refuse(world) {
    world.api.faults.watch.push(statusError(pick(world.rng, [403, 410, 500])));
    world.api.faults.list.push(statusError(503));
  },
};

async function play(seed: number): Promise<void> {
  const rng = seededRng(seed);
  const { api, cache, clock, start, stop } = harness();
  if (rng.next() < 0.5) api.streaming = 'yes';
  const world: World = {
    api,
    cache,
    rng,
    open: [],
    belief: new Map(),
    foreign: new Set(),
    echoes: [],
    own: new Set(),
    uid: 0,
  };
  cache.subscribe({
    name: 'me',
    ownEvents: 'filter',
    on: (change) => {
      hear(world, change);
    },
  });
  await start();

  const newest = new Map<string, number>();
  for (let i = 0; i < STEPS; i++) {
    (steps[pick(rng, Object.keys(steps))] as (world: World) => void)(world);
    if (rng.next() < 0.5) await settle(3);
    if (rng.next() < 0.3) await clock.advance(rng.next() * 3_000);
    for (const { metadata } of cache.list()) {
      const id = String(metadata.uid);
      const version = Number(metadata.resourceVersion);
      expect(version, `${id} went back`).to.be.at.least(newest.get(id) ?? 0);
      newest.set(id, version);
    }
  }

  while (world.open.length > 0) steps['answer']?.(world);
  api.faults.watch.length = 0;
  api.faults.list.length = 0;
  api.release();
  await clock.advance(120_000);
  const server = [...api.objects.values()].map((o) => [o.metadata.name, o.metadata.resourceVersion]).sort();
  expect([...cache.list()].map((o) => [o.metadata.name, o.metadata.resourceVersion]).sort()).to.deep.equal(
    server,
  );
  expect(cache.unconfirmed, 'unconfirmed writes at rest').to.equal(0);
  expect(cache.remembered, 'echo state at rest').to.equal(0);
  const present = [...api.objects.keys()].sort();
  expect([...world.belief.keys()].filter((key) => api.objects.has(key)).length).to.be.at.most(present.length);
  for (const [key, object] of api.objects) {
    const version = object.metadata.resourceVersion as string;
    if (world.foreign.has(version)) {
      expect(world.belief.get(key), `the last, foreign write of ${key} was never told`).to.equal(version);
    }
  }
  for (const key of world.belief.keys()) {
    expect(api.objects.has(key), `the end of ${key} was never told`).to.equal(true);
  }
  stop();
}

function hear(world: World, change: Change<Thing>): void {
  const { name, resourceVersion = '' } = change.obj.metadata;
  if (change.type === 'delete') world.belief.delete(`ns/${name}`);
  else world.belief.set(`ns/${name}`, resourceVersion);
}

describe('a cache in small random scenarios', function () {
  this.timeout(60_000);

  it('ends with the state of the server, misses no foreign write, and never goes back', async () => {
    const only = process.env['SEED'];
    const seeds = only ? [Number(only)] : Array.from({ length: SEEDS }, (_, i) => i + 1);
    for (const seed of seeds) {
      try {
        await play(seed);
      } catch (error) {
        (error as Error).message = `seed ${String(seed)}: ${(error as Error).message}`;
        throw error;
      }
    }
  });
});
