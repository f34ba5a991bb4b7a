/** A few of the many seeds of `make simulate`, and the proof that the simulation can fail. */
import { expect } from 'chai';
import type { LeaseObject } from '../../src/runtime/manager/lease.ts';
import type { Client, Write } from '../../src/runtime/types.ts';
import { runSeed } from './engine/run.ts';
import { Violation } from '../../src/testing/violation.ts';

const SEEDS = 30;
const FLEET_SEEDS = 10;

describe('the simulation', function () {
  this.timeout(120_000);

  for (let from = 1; from <= SEEDS; from += 10) {
    it(`keeps all invariants with the seeds ${from} to ${from + 9}`, async () => {
      for (let seed = from; seed < from + 10; seed++) {
        const { failure, lastSteps } = await runSeed(seed);
        if (!failure) continue;
        const law = failure instanceof Violation ? failure.law : failure.name;
        throw new Error(
          `seed ${seed} broke "${law}": ${failure.message}\n${lastSteps(40).join('\n')}\nreplay: make simulate SEED=${seed}`,
        );
      }
    });
  }

  for (const replicas of [2, 3]) {
    it(`keeps all invariants with the seeds 1 to ${FLEET_SEEDS} if ${replicas} replicas share the work`, async () => {
      for (let seed = 1; seed <= FLEET_SEEDS; seed++) {
        const { failure, lastSteps } = await runSeed(seed, { replicas });
        if (!failure) continue;
        const law = failure instanceof Violation ? failure.law : failure.name;
        throw new Error(
          `seed ${seed} broke "${law}": ${failure.message}\n${lastSteps(40).join('\n')}\nreplay: make simulate SEED=${seed} ARGS='--replicas ${replicas}'`,
        );
      }
    });
  }

  it('does the same twice with the same seed', async () => {
    const once = await runSeed(3);
    const twice = await runSeed(3);
    expect(twice.fingerprint).to.equal(once.fingerprint);
  });
});

/** Controllers that are deliberately broken, by what happens to their requests, and the invariants that detect it. */
const broken: readonly {
  readonly what: string;
  readonly change: (write: Write) => Write | undefined;
  readonly laws: readonly string[];
}[] = [
  {
    what: 'writes without resource version',
    change: (write) => {
      if (write.verb !== 'merge') return write;
      const { metadata, ...body } = write.body as { metadata?: { resourceVersion?: string } };
      const { resourceVersion: _, ...rest } = metadata ?? {};
      return { ...write, body: { ...body, metadata: rest } };
    },
    laws: [
      'the phases of a job never go back',
      'a job ends with its final phase in one write',
      'a root starts a job only on request',
      'the observed generation never decreases',
      'a job id never changes while the job runs',
      'a job id below a root is that of a running job above it',
      'a spec below a root never changes while the job runs',
    ],
  },
  {
    what: 'forgets to delete',
    change: (write) => (write.verb === 'delete' ? undefined : write),
    laws: ['every wait is ended by an event', 'waiting costs next to nothing', 'a deletion leaves nothing'],
  },
  {
    what: 'ends jobs without job id',
    change: (write) => {
      if (write.verb !== 'merge' || write.sub !== 'status') return write;
      const { status = {}, ...body } = write.body as { status?: { jobIDFinished?: string } };
      const { jobIDFinished: _, ...rest } = status;
      return { ...write, body: { ...body, status: rest } };
    },
    laws: ['a job ends with its final phase in one write'],
  },
  {
    what: 'does not store that a job has begun',
    change: (write) => {
      if (write.verb !== 'merge' || write.sub !== 'status') return write;
      const { status = {}, ...body } = write.body as { status?: { phase?: string } };
      const { phase, ...rest } = status;
      return phase === 'Init' ? { ...write, body: { ...body, status: rest } } : write;
    },
    laws: ['upstream would find everything below an object'],
  },
];

const MOST_SEEDS = 60;

/** A client that sends something else than requested, and reports success. */
const lying =
  (change: (write: Write) => Write | undefined) =>
  (client: Client): Client => ({
    ...client,
    send: (write, signal) => {
      const changed = change(write) as typeof write | undefined;
      if (changed) return client.send(changed, signal);
      return 'key' in write ? client.get(write.kind, write.key, signal) : client.send(write, signal);
    },
  });

describe('a broken controller', function () {
  this.timeout(120_000);

  for (const { what, change, laws } of broken) {
    it(`is detected if it ${what}`, async () => {
      for (let seed = 1; seed <= MOST_SEEDS; seed++) {
        const { failure } = await runSeed(seed, { wrapClient: lying(change) });
        if (!failure) continue;
        expect(failure).to.be.instanceOf(Violation);
        expect((failure as Violation).law).to.be.oneOf([...laws]);
        return;
      }
      throw new Error(`${MOST_SEEDS} seeds found nothing`);
    });
  }
});

/** Leases on their way to the replicas, each changed by `change`. */
const misreading =
  (change: (lease: LeaseObject) => LeaseObject) =>
  (client: Client): Client => ({
    ...client,
    async *list(kind, query, signal) {
      for await (const page of client.list(kind, query, signal))
        yield { ...page, items: page.items.map((item) => change(item as LeaseObject) as typeof item) };
    },
    async *watch(kind, query, signal) {
      for await (const frame of client.watch(kind, query, signal))
        yield 'object' in frame ? { ...frame, object: change(frame.object) as typeof frame.object } : frame;
    },
  });

describe('a broken replica', function () {
  this.timeout(120_000);

  it('is detected if it treats live replicas as dead', async () => {
    const hasty = misreading((lease) => ({ ...lease, spec: { ...lease.spec, leaseDurationSeconds: 1 } }));
    for (let seed = 1; seed <= MOST_SEEDS; seed++) {
      const { failure } = await runSeed(seed, { replicas: 2, wrapLeases: hasty });
      if (!failure) continue;
      expect(failure).to.be.instanceOf(Violation);
      expect((failure as Violation).law).to.equal('no two replicas write to one tree');
      return;
    }
    throw new Error(`${MOST_SEEDS} seeds found nothing`);
  });
});
