/**
 * The container deployer is killed right before or right after each of its writes, and another one takes over. The
 * result is the same as without a crash, and the image has run once for each job.
 */
import { expect } from 'chai';
import { POD, SECRET, type Pod } from '../../deployers/container/kinds.ts';
import { namesOf } from '../../deployers/container/names.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import { containerConfigOf, ContainerWorld, podSucceeded, type Room } from '../support/containers.ts';
import { isRealServer } from '../support/cluster.ts';
import { nameOfWrite, type Fault } from '../support/faults.ts';

/** Stories run in parallel, but never two on one cluster: a deployer handles the items of all namespaces. */
const CLUSTERS = isRealServer() ? 1 : 4;

describe('a crash of the container deployer', function () {
  this.timeout(isRealServer() ? 900_000 : 400_000);
  let worlds: ContainerWorld[] = [];
  before(async () => {
    worlds = await Promise.all(Array.from({ length: CLUSTERS }, () => ContainerWorld.start()));
  });
  after(async () => {
    for (const world of worlds) await world.stop();
  });

  it('between any two writes of a job, the next one and the deletion does not change the result', async () => {
    const { writes, seen: model } = await tell(worlds[0] as ContainerWorld);
    expect(model.afterApply).to.include({ phase: 'Succeeded', runs: 1, exported: '{"n":1}' });
    expect(model.afterChange).to.include({ phase: 'Succeeded', runs: 2, exported: '{"n":2}' });
    expect(model.afterDelete).to.deep.equal({ runs: 3, left: [] });
    const faults: Fault[] = [
      { what: 'crash-before', nth: 1 },
      ...Array.from({ length: writes }, (_, i) => ({ what: 'crash-after' as const, nth: i + 1 })),
    ];
    await inLanes(faults, worlds, async (fault, world) => {
      const { seen, hit } = await tell(world, fault);
      expect(seen, `${fault.what} ${String(fault.nth)}: ${hit}`).to.deep.equal(model);
    });
  });

  /** The whole story in a separate namespace, with at most one crash. */
  async function tell(world: ContainerWorld, fault?: Fault): Promise<Told> {
    const room = await world.narrowRoom();
    try {
      const first = await room.deployer();
      if (fault) first.faults.arm(room.pods, fault);
      const failed = fault
        ? first.faults.struck(room.pods).then(async () => {
            await first.crash();
            await room.deployer();
          })
        : Promise.resolve();
      const runs = room.autopilot((pod) => asKubelet(room, pod));
      await room.give('web', containerConfigOf({ args: ['1'] }));
      const afterJob = async (job: string): Promise<object> => {
        const { status } = await room.run('web', job);
        return {
          phase: status?.phase,
          runs: runs.length,
          exported: await room.secret('web-export', 'config', room.items),
          status: JSON.stringify(status?.providerStatus).replace(/(web|both)-[0-9a-f]{8}|\d{4}-[^"]*Z/g, '…'),
          conditions: status?.conditions?.map(({ type, status: is }) => `${type} ${is}`).join(),
          left: (await ownLeftovers(room)).join(),
        };
      };
      const afterApply = await afterJob('j1');
      await room.configure('web', containerConfigOf({ args: ['2'] }));
      const afterChange = await afterJob('j2');
      await room.remove('web');
      await room.kick('web', 'j3');
      await room.gone('web');
      await room.noPod();
      const afterDelete = { runs: runs.length, left: await ownLeftovers(room) };
      const hit = nameOfWrite(first.faults.hit(room.pods));
      const writes = first.faults.writes(room.pods).length;
      if (first.faults.hit(room.pods)) await failed;
      return { writes, seen: { afterApply, afterChange, afterDelete }, hit };
    } finally {
      await room.stop();
    }
  }
});

interface Told {
  /** Of the first deployer. */
  readonly writes: number;
  readonly seen: Seen;
  /** The write that was hit. */
  readonly hit: string;
}

interface Seen {
  readonly afterApply: object;
  readonly afterChange: object;
  readonly afterDelete: object;
}

/** Export and state as the wait container writes them, then the end of the pod. */
async function asKubelet(room: Room, pod: Pod): Promise<object> {
  const item = { namespace: room.items, name: 'web' };
  const name = namesOf(item).export;
  if (!(await getIfThere(room.world.client, SECRET, `${room.pods}/${name}`))) {
    await room.create(SECRET, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: room.pods, labels: pod.metadata.labels },
      stringData: { config: `{"n":${argumentOf(pod)}}` },
    } as unknown as Obj);
  }
  return podSucceeded;
}

/** The configuration that the image received. */
const argumentOf = ({ spec }: Pod): string => {
  const { containers } = spec as unknown as { containers: readonly { name: string; args?: string[] }[] };
  return containers.find(({ name }) => name === 'main')?.args?.[0] ?? '';
};

/**
 * Names without parts that differ from namespace to namespace; the export of the item itself is deleted with the item
 * by its owner.
 */
const ownLeftovers = async (room: Room): Promise<string[]> =>
  (await Promise.all([room.leftovers(), room.names(POD as Kind<Obj>)]))
    .flat()
    .filter((name) => name !== 'web-export')
    .map((name) => name.replace(room.items, 'ns'))
    .sort();

async function inLanes<T, L>(
  all: readonly T[],
  lanes: readonly L[],
  work: (one: T, lane: L) => Promise<void>,
): Promise<void> {
  const left = [...all];
  const run = async (lane: L): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one, lane);
  };
  await Promise.all(lanes.map(run));
}
