import { expect } from 'chai';
import { criticalProblemsKind, type CriticalProblem } from '../../../src/api/kinds/criticalproblems.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import {
  bugIn,
  criticalProblemsRecord,
  describeBug,
  withCriticalProblems,
  withProblem,
} from '../../../src/machine/critical.ts';
import { PhaseError } from '../../../src/machine/decision.ts';
import { RequeueError } from '../../../src/machine/run.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { apiErrorFrom, KubeconfigError, TransportError } from '../../../src/runtime/errors.ts';
import type { Context, Obj } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { NOW, execution } from '../../support/given.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';

const problem = { operation: 'o', reason: 'r', message: 'm' };

describe('a failed reconcile', () => {
  const bug = new TypeError('x is undefined');
  const rows: [string, unknown, unknown][] = [
    ['CORE-117: access to what is not there is a bug', bug, bug],
    ['a bug within a phase is one', new RequeueError(problem, { cause: bug }), bug],
    ['a phase that fails on purpose is none', new PhaseError('o', 'r', 'm'), undefined],
    ['a wait is none', new RequeueError(problem), undefined],
    ['a mistake of a user is none', new KubeconfigError({ message: 'no cluster' }), undefined],
    [
      'a lost connection is none, whatever the socket threw',
      new TransportError({ message: 'lost', safeToRepeat: true, cause: bug }),
      undefined,
    ],
    ['is not a bug after an unexpected error without a special class', new Error('odd'), undefined],
  ];
  for (const [title, error, answer] of rows) {
    it(title, () => {
      expect(bugIn(error)).to.equal(answer);
    });
  }

  it('is reported with the object, the controller and the place in the program', () => {
    const text = describeBug(bug, 'execution', execution('plan'));
    expect(text).to.match(
      /^TypeError at Execution demo\/plan in controller execution: x is undefined \| at /,
    );
  });

  it('is reported without the input of a parser', () => {
    const { error } = tryTo(() => JSON.parse('"password" x') as unknown);
    expect(describeBug(error, 'execution', execution('plan')))
      .to.match(/^SyntaxError at Execution demo\/plan in controller execution \| at /)
      .and.not.to.match(/password/);
  });

  it('is reported with at most four frames of the stack, and none if there is no stack', () => {
    const deep = Object.assign(new TypeError('x'), {
      stack: `TypeError: x\n${'    at f (file:1)\n'.repeat(9)}`,
    });
    const head = 'TypeError at Execution demo/plan in controller execution: x';
    expect(describeBug(deep, 'execution', execution('plan'))).to.equal(
      `${head}${' | at f (file:1)'.repeat(4)}`,
    );
    const lost: Error = new TypeError('x');
    delete lost.stack;
    expect(describeBug(lost, 'execution', execution('plan'))).to.equal(head);
  });

  it('is reported with a shortened message', () => {
    const long = new TypeError('x'.repeat(2_000));
    expect(describeBug(long, 'execution', execution('plan'))).to.have.length(1_000);
  });
});

function tryTo(run: () => unknown): { error: Error } {
  try {
    run();
  } catch (error) {
    return { error: error as Error };
  }
  throw new Error('nothing was thrown');
}

describe('the record of critical problems', () => {
  const entry = (n: number, minutesAgo = 60) => ({
    podName: 'pod-a',
    creationTime: new Date(Date.parse(NOW) - minutesAgo * 60_000).toISOString(),
    description: `problem ${String(n)}`,
  });
  const ten = Array.from({ length: 10 }, (_, n) => entry(n));

  it('CORE-117: keeps the newest ten', () => {
    const next = withProblem(ten, entry(10, 0));
    expect(next?.map(({ description }) => description)).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => `problem ${String(n + 1)}`),
    );
  });

  describe('of one place in the program', () => {
    const at = (n: number, minutesAgo: number) => ({
      ...entry(n, minutesAgo),
      description: `TypeError at Installation demo/i-${String(n)}: reading 'x' | at f (a.ts:1)`,
    });

    it('is recorded once in five minutes, whatever object it is about', () => {
      expect(withProblem([at(1, 4)], at(2, 0))).to.equal(undefined);
    });

    it('does not drop those of other places, however often it is repeated', () => {
      const others = [entry(1), entry(2), entry(3)];
      let all: readonly CriticalProblem[] = others;
      for (let i = 0; i < 20; i++) all = withProblem(all, at(i, 200 - 10 * i)) ?? all;
      expect(all).to.have.length(10);
      expect(all.slice(0, 3)).to.deep.equal(others);
      expect(all.at(-1)).to.deep.equal(at(19, 10));
    });
  });

  it('records the same problem of the same pod once in five minutes', () => {
    expect(withProblem([entry(1, 4)], entry(1, 0))).to.equal(undefined);
    expect(withProblem([entry(1, 6)], entry(1, 0))).to.have.length(2);
    expect(withProblem([entry(1, 5)], entry(1, 0))).to.have.length(2);
    expect(withProblem([entry(1, 4)], { ...entry(1, 0), podName: 'pod-b' })).to.have.length(2);
    expect(withProblem([entry(1, 4)], { ...entry(1, 0), description: 'another' })).to.have.length(2);
    expect(withProblem([entry(1, 4), entry(2, 4)], entry(1, 0))).to.equal(undefined);
  });

  const KEY = 'system/critical-problems';
  const given = () => {
    const cluster = new FakeCluster();
    const errors: object[] = [];
    const log = { ...silentLogger, error: (fields: object) => errors.push(fields) };
    const report = criticalProblemsRecord({
      client: cluster,
      write: (write, signal) => cluster.send(write, signal),
      clock: new FakeClock(NOW),
      log,
      pod: { name: 'pod-a', namespace: 'system' },
    });
    const recorded = (): unknown[] =>
      (cluster.read(criticalProblemsKind, KEY)?.spec?.criticalProblem ?? []).map(
        ({ description }) => description,
      );
    return { cluster, errors, report, recorded };
  };

  it('CORE-117: is stored in the namespace of the pod, with the pod and the time', async () => {
    const { cluster, report, errors } = given();
    await report('first');
    await report('second');
    const of = { podName: 'pod-a', creationTime: NOW };
    expect(cluster.read(criticalProblemsKind, KEY)).to.deep.include({
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'CriticalProblems',
      spec: { criticalProblem: ['first', 'second'].map((description) => ({ ...of, description })) },
    });
    expect(errors.map((fields) => (fields as { problem: string }).problem)).to.deep.equal([
      'first',
      'second',
    ]);
  });

  it('processes problems one after the other, and loses none', async () => {
    const { report, recorded } = given();
    await Promise.all(['a', 'b', 'c'].map(report));
    expect(recorded()).to.deep.equal(['a', 'b', 'c']);
  });

  it('is not written for a problem that it already has', async () => {
    const { cluster, report } = given();
    await report('same');
    await report('same');
    expect(cluster.writes).to.have.length(1);
  });

  it('is written to an object without a spec', async () => {
    const { cluster, report, recorded } = given();
    cluster.put(criticalProblemsKind, { metadata: { name: 'critical-problems', namespace: 'system' } });
    await report('first');
    expect(recorded()).to.deep.equal(['first']);
  });

  const refusal = (code: number, reason: string) =>
    apiErrorFrom(code, { reason }, { verb: 'create', kind: 'CriticalProblems' });
  const races: readonly (readonly [string, Error, number, boolean])[] = [
    ['is retried after a conflict', refusal(409, 'Conflict'), 4, true],
    ['is retried if another pod has created it meanwhile', refusal(409, 'AlreadyExists'), 4, true],
    ['is given up after five attempts', refusal(409, 'Conflict'), 5, false],
    ['is given up at once if it may not be written', refusal(403, 'Forbidden'), 1, false],
  ];
  for (const [title, error, times, isNoted] of races) {
    it(`${title}, and no reconcile fails because of it`, async () => {
      const { cluster, report, recorded, errors } = given();
      let left = times;
      cluster.fault = ({ verb }) => (verb !== 'get' && left-- > 0 ? error : undefined);
      await report('first');
      expect(recorded()).to.deep.equal(isNoted ? ['first'] : []);
      expect(cluster.writes).to.have.length(isNoted ? times + 1 : times);
      expect(errors).to.have.length(isNoted ? 1 : 2);
    });
  }
});

describe('a controller whose bugs are recorded', () => {
  const bug = new TypeError('x is undefined');
  const ctx = {} as Context<Obj>;
  /** The result of the reconcile, and the reports. */
  async function run(pass: 'reconcile' | 'cleanup', act: () => Promise<never>) {
    const reports: string[] = [];
    const { reconciler } = withCriticalProblems<Obj>(
      { name: 'execution', kind: executionKind, reconciler: { reconcile: act, cleanup: act } },
      (text) => Promise.resolve(void reports.push(text)),
    );
    const end = await reconciler[pass]?.(execution('plan'), ctx).catch((error: unknown) => error);
    return { end, reports };
  }

  for (const pass of ['reconcile', 'cleanup'] as const) {
    it(`reports a bug in ${pass}, and fails with it all the same`, async () => {
      const { end, reports } = await run(pass, () => Promise.reject(bug));
      expect(end).to.equal(bug);
      expect(reports).to.have.length(1);
      expect(reports[0]).to.match(
        /^TypeError at Execution demo\/plan in controller execution: x is undefined/,
      );
    });

    it(`does not report ${pass}`, async () => {
      const error = new Error('foreseen');
      expect(await run(pass, () => Promise.reject(error))).to.deep.equal({ end: error, reports: [] });
    });

    it(`returns what ${pass} returns`, async () => {
      const answer = {} as never;
      expect(await run(pass, () => Promise.resolve(answer))).to.deep.equal({ end: answer, reports: [] });
    });
  }

  it('has a cleanup only if it had one before, because the runtime sets a finalizer for it', () => {
    const reconcile = () => Promise.resolve({ write: 'none' } as const);
    const spec = { name: 'x', kind: executionKind, maxConcurrent: 3, reconciler: { reconcile } };
    const noted = withCriticalProblems(spec, () => Promise.resolve());
    expect(noted).to.include({ name: 'x', maxConcurrent: 3 });
    expect(noted.reconciler).not.to.have.property('cleanup');
  });
});
