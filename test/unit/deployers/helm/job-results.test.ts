/** What helm jobs keep in memory while they wait. */
import { expect } from 'chai';
import type { HelmContext } from '../../../../deployers/helm/helm-context.ts';
import { JobResults, jsonBytes } from '../../../../deployers/helm/job-results.ts';

const MIB = 2 ** 20;
const jobOf = (uid: string, namespace = 'shop'): HelmContext =>
  ({
    item: { metadata: { uid, namespace, generation: 1 }, status: { jobID: 'j' } },
    scratch: new Map<string, unknown>(),
  }) as unknown as HelmContext;

/** The result of a step that takes so much memory. */
const large = (results: JobResults, job: HelmContext, bytes: number): Promise<object> =>
  results.once(
    job,
    'chart',
    () => Promise.resolve({}),
    () => bytes,
  );

describe('the results of the steps of helm jobs', () => {
  it('are computed once per job', async () => {
    const results = new JobResults();
    let runs = 0;
    for (const bytes of [10, MIB]) {
      const job = jobOf(String(bytes));
      const once = () =>
        results.once(
          job,
          'chart',
          () => Promise.resolve(++runs),
          () => bytes,
        );
      expect(await once()).to.equal(await once());
    }
    expect(runs).to.equal(2);
  });

  it('of waiting jobs share a limited memory, whatever the number of jobs', async () => {
    const results = new JobResults();
    const jobs = Array.from({ length: 50 }, (_, i) => jobOf(String(i)));
    for (const job of jobs) await large(results, job, 4 * MIB);
    expect(results.size).to.be.at.most(64 * MIB);
    expect(jobs.flatMap(({ scratch }) => [...scratch.values()])).to.deep.equal([]);
  });

  it('that are small end with their job', async () => {
    const results = new JobResults();
    const job = jobOf('a');
    await results.once(job, 'manifests', () => Promise.resolve([{ kind: 'ConfigMap' }]));
    expect(results.size).to.equal(0);
    expect(job.scratch.get('manifests')).to.deep.equal([{ kind: 'ConfigMap' }]);
  });

  it('that are large are released when the job ends', async () => {
    const results = new JobResults();
    for (const [name, kind] of [
      ['a', 'done'],
      ['b', 'wait'],
    ] as const)
      await results.during(jobOf(name), async () => {
        await large(results, jobOf(name), MIB);
        return { kind };
      });
    expect(results.size).to.be.within(MIB, 1.1 * MIB);
  });

  describe('that reconciles use at the same time', () => {
    let results: JobResults;
    let ended: (() => void)[];
    beforeEach(() => {
      results = new JobResults();
      ended = [];
    });

    /** Reconciles a job that uses so much until it is ended. @returns what is known when it has its result, or too little was left */
    async function reconcile(uid: string, namespace: string, bytes: number) {
      const job = jobOf(uid, namespace);
      const end = new Promise<void>((resolve) => ended.push(resolve));
      let hasResult: () => void;
      const started = new Promise<'runs'>((resolve) => {
        hasResult = () => resolve('runs');
      });
      const outcome = results.during(job, async () => {
        await large(results, job, bytes);
        hasResult();
        await end;
        return { kind: 'done' };
      });
      return { state: await Promise.race([started, outcome]), outcome };
    }
    const statesOf = async (namespace: string, count: number, bytes: number): Promise<unknown[]> => {
      const states: unknown[] = [];
      for (let i = 0; i < count; i++)
        states.push((await reconcile(`${namespace}-${String(i)}`, namespace, bytes)).state);
      return states;
    };

    it('leave half of the memory to other namespaces, and the others wait and say why', async () => {
      const [first, second, third] = await statesOf('greedy', 3, 60 * MIB);
      expect([first, second]).to.deep.equal(['runs', 'runs']);
      expect(third).to.include({ kind: 'wait', requeueAfterMs: 5_000 });
      expect(third)
        .to.have.nested.property('why.message')
        .that.contains('large charts of other deploy items');
      expect(await statesOf('modest', 2, 60 * MIB)).to.deep.equal(['runs', 'runs']);
    });

    it('can be larger than half of the memory if the namespace has no others', async () => {
      expect(await statesOf('shop', 1, 200 * MIB)).to.deep.equal(['runs']);
    });

    it('do not count while they are small', async () => {
      await statesOf('greedy', 1, 256 * MIB);
      expect(await statesOf('modest', 100, MIB)).to.deep.equal(Array.from({ length: 100 }, () => 'runs'));
    });

    it('are released when the reconcile ends', async () => {
      const { outcome } = await reconcile('a', 'shop', 256 * MIB);
      const refused = await reconcile('b', 'other', 256 * MIB);
      expect(refused.state).to.include({ kind: 'wait' });
      ended[0]?.();
      await outcome;
      expect((await reconcile('b', 'other', 256 * MIB)).state).to.equal('runs');
    });

    it('are not loaded again before enough is left', async () => {
      const { outcome } = await reconcile('a', 'shop', 250 * MIB);
      const job = jobOf('b', 'other');
      let loads = 0;
      const again = () =>
        results.during(job, async () => {
          loads++;
          await large(results, job, 10 * MIB);
          return { kind: 'done' };
        });
      for (let i = 0; i < 3; i++) expect(await again()).to.include({ kind: 'wait' });
      expect(loads).to.equal(1);
      ended[0]?.();
      await outcome;
      expect(await again()).to.include({ kind: 'done' });
      expect(loads).to.equal(2);
    });

    it('are dropped by a reconcile for which too little is left', async () => {
      await reconcile('a', 'shop', 250 * MIB);
      const before = results.size;
      await reconcile('b', 'other', 10 * MIB);
      expect(results.size).to.equal(before);
    });
  });

  it('have an approximate size as JSON', () => {
    expect(jsonBytes(['x'.repeat(6_400)])).to.be.within(6_400, 7_000);
    expect(jsonBytes(Array.from({ length: 1_000 }, () => 1))).to.be.above(60_000);
  });
});
