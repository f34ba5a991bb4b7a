import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../../../../src/lib/clock.ts';
import { cpuTimeOf } from '../../../../src/templating/worker/cpu-time.ts';
import { WorkerPool, type PoolOptions } from '../../../../src/templating/worker/pool.ts';
import { WorkStopped, type StopReason } from '../../../../src/templating/worker/worker-process.ts';
import { FakeClock } from '../../../support/clock.ts';
import type { BurnerData, Burning } from './burner.ts';
import { inTime } from '../../../support/waiting.ts';

const ENTRY = new URL('burner.ts', import.meta.url);

describe('workers shared by namespaces', () => {
  const pools: WorkerPool[] = [];
  const poolOf = (options: Partial<PoolOptions>): WorkerPool => {
    const pool = new WorkerPool({
      entry: ENTRY,
      clock: systemClock,
      cpuTimeOf,
      memoryMiB: 64,
      data: undefined,
      size: 2,
      ...options,
    });
    pools.push(pool);
    return pool;
  };
  const start = (options: Partial<PoolOptions> = {}) => {
    const pool = poolOf(options);
    return (namespace: string, work: Burning, cpuMs = 10_000) =>
      pool.run(() => ({ work }), { namespace, cpuMs });
  };
  after(() => Promise.all(pools.map((pool) => pool.close())));

  const stopped = (work: Promise<unknown>): Promise<StopReason | undefined> =>
    work.then(
      () => undefined,
      (error: unknown) => (error instanceof WorkStopped ? error.reason : Promise.reject(error as Error)),
    );

  it('serve one while another floods them', async () => {
    const run = start();
    let ended = 0;
    const flood = Array.from({ length: 12 }, () =>
      run('flood', { kind: 'burn', ms: 300 }).finally(() => ended++),
    );
    const endedBefore: number[] = [];
    for (let i = 0; i < 3; i++) {
      expect(await run('canary', { kind: 'echo', value: i })).to.equal(i);
      endedBefore.push(ended);
    }
    expect(endedBefore.at(-1), 'the canary waits for no more than what was at work').to.be.below(12);
    await Promise.all(flood);
  });

  it('do not wait for one that is still starting while another one is free', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-pool-'));
    try {
      const data: BurnerData = { onlyFirst: join(folder, 'first') };
      const run = start({ data });
      await run('flood', { kind: 'echo', value: 'ready' });
      const flood = Array.from({ length: 3 }, () => run('flood', { kind: 'burn', ms: 50 }));
      expect(await inTime('work of the other', run('canary', { kind: 'echo', value: 1 }))).to.equal(1);
      await inTime('work of the first', Promise.all(flood));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('do not count the time in which they do not run', async () => {
    if (process.platform !== 'linux') return;
    const run = start();
    expect(await run('a', { kind: 'rest', ms: 1000 }, 200)).to.equal('rested');
    expect(await stopped(run('a', { kind: 'burn', ms: 60_000 }, 200))).to.equal('time');
    expect(await run('a', { kind: 'echo', value: 1 }), 'by another worker').to.equal(1);
  });

  it('give up work that gets no processor time, with an error that does not blame it', async () => {
    const clock = new FakeClock();
    const run = start({ clock, cpuTimeOf: () => 1e-9 });
    await run('a', { kind: 'echo', value: 'ready' });
    const starved = stopped(run('a', { kind: 'rest', ms: 600_000 }, 100));
    await clock.advance(59_999);
    expect(clock.pending, 'looks again').to.equal(1);
    await clock.advance(1);
    expect(await inTime('the stop', starved)).to.equal('starved');
    expect(await run('a', { kind: 'echo', value: 1 })).to.equal(1);
  });

  it('use wall time, multiplied by three, if the system does not report processor time', async () => {
    const clock = new FakeClock();
    const run = start({ clock, cpuTimeOf: () => undefined });
    await run('a', { kind: 'echo', value: 'ready' });
    const long = stopped(run('a', { kind: 'rest', ms: 600_000 }, 1000));
    await clock.advance(2_999);
    expect(clock.pending).to.equal(1);
    await clock.advance(40);
    expect(await inTime('the stop', long)).to.equal('time');
  });

  it('replace one that needs too much memory', async () => {
    const run = start({ memoryMiB: 32 });
    expect(await stopped(run('a', { kind: 'eat' }))).to.equal('memory');
    expect(await run('a', { kind: 'echo', value: 1 })).to.equal(1);
  });

  it('replace one that creates a single value larger than its memory', async () => {
    const run = start({ memoryMiB: 32 });
    expect(await stopped(run('a', { kind: 'gorge' }))).to.equal('memory');
    expect(await run('a', { kind: 'echo', value: 1 })).to.equal(1);
  });

  it('report why one has ended', async () => {
    const run = start();
    const error = await run('a', { kind: 'die' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(WorkStopped).with.property('reason', 'crash');
    expect((error as Error).cause).to.have.property('message', 'the process ended with signal SIGKILL: ');
    expect(await run('a', { kind: 'echo', value: 1 })).to.equal(1);
  });

  it('pass on nothing of their process but the time zone', async () => {
    expect(await start()('a', { kind: 'environment' })).to.deep.equal(
      process.env['TZ'] === undefined ? [] : ['TZ'],
    );
  });

  it('ignore signals that a terminal sends to all', async () => {
    const run = start({ size: 1 });
    expect(await run('a', { kind: 'signal', signal: 'SIGINT' })).to.equal('sent');
    expect(await run('a', { kind: 'echo', value: 1 })).to.equal(1);
  });

  it('have a heap of their own, whatever the flags of the process', async () => {
    setFlagsFromString('--max-old-space-size=2000');
    expect(await start({ memoryMiB: 64 })('a', { kind: 'heap' })).to.be.below(200);
  });

  it('serve last a namespace whose work they had to stop repeatedly', async () => {
    const run = start({ size: 1 });
    for (let i = 0; i < 2; i++) {
      expect(await stopped(run('bad', { kind: 'burn', ms: 60_000 }, 50))).to.equal('time');
    }
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const first = run('good', { kind: 'burn', ms: 50 }).then(note('first'));
    await Promise.all([
      run('bad', { kind: 'echo', value: 1 }).then(note('bad')),
      ...['good 1', 'good 2', 'good 3'].map((name) =>
        run('good', { kind: 'echo', value: 1 }).then(note(name)),
      ),
      first,
    ]);
    expect(order).to.deep.equal(['first', 'good 1', 'good 2', 'good 3', 'bad']);
  });

  it('serialize work only when a worker takes it', async () => {
    const pool = poolOf({ size: 1 });
    const packed: number[] = [];
    const echo = (value: number): Promise<unknown> => {
      const load = (): { work: Burning } => {
        packed.push(value);
        return { work: { kind: 'echo', value } };
      };
      return pool.run(load, { namespace: 'a', cpuMs: 10_000 });
    };
    const runs = [1, 2, 3].map(echo);
    expect(packed, 'the worker is still starting').to.deep.equal([]);
    await runs[0];
    expect(packed).to.deep.equal([1, 2]);
    await Promise.all(runs);
    expect(packed).to.deep.equal([1, 2, 3]);
  });

  it('continue after work that cannot be serialized or sent', async () => {
    const pool = poolOf({ size: 1 });
    const wrong = [
      pool.run(
        () => {
          throw new Error('cannot be packed');
        },
        { namespace: 'a', cpuMs: 10_000 },
      ),
      pool.run(() => ({ work: () => undefined }), { namespace: 'a', cpuMs: 10_000 }),
    ];
    const good = pool.run(() => ({ work: { kind: 'echo', value: 1 } }), { namespace: 'a', cpuMs: 10_000 });
    const reasons = (await Promise.allSettled(wrong)).map((end) =>
      end.status === 'rejected' ? String(end.reason) : '',
    );
    expect(reasons[0]).to.match(/cannot be packed/);
    expect(reasons[1]).to.match(/could not be cloned/);
    expect(await good).to.equal(1);
  });

  it('reject waiting work when they are closed', async () => {
    const pool = poolOf({ size: 1 });
    const runs = ['a', 'b'].map((namespace) =>
      stopped(pool.run(() => ({ work: { kind: 'burn', ms: 60_000 } }), { namespace, cpuMs: 60_000 })),
    );
    await pool.close();
    expect(await Promise.all(runs)).to.deep.equal(['closed', 'closed']);
    expect(
      await stopped(pool.run(() => ({ work: { kind: 'echo', value: 1 } }), { namespace: 'a', cpuMs: 1 })),
    ).to.equal('closed');
  });
});
