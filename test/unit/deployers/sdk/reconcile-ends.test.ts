/** How a reconcile of a deploy item ends when it is interrupted, when its time runs out, and when credentials are refused. */
import { expect } from 'chai';
import {
  done,
  fail,
  retry,
  RetryError,
  UnauthorizedError,
  wait,
  type Outcome,
} from '../../../../deployers/sdk/index.ts';
import { ShutdownError } from '../../../../src/runtime/errors.ts';
import type { TargetReader, ResolvedTarget } from '../../../../deployers/sdk/target.ts';
import { LS, type BenchOptions } from '../bench.ts';
import { givenPlugin, loggerInto, TYPE, type Answer, type PluginBench } from '../plugin-bench.ts';

const FINALIZER = `finalizer.${LS}`;
const problem = { operation: 'Op', reason: 'Re', message: 'no' };
const onTimeout = { operation: 'Wait', reason: 'NotReady', message: 'the Deployment is not ready' };
const refused = { ...problem, codes: ['ERR_UNAUTHORIZED', 'ERR_CLEANUP'] as const };

/** A promise that the test resolves. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('the request was aborted'));
    });
  });

describe('a reconcile of a deploy item', () => {
  it('may send any number of requests that listen to its signal', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): unknown => warnings.push(name);
    process.on('warning', note);
    const b = givenPlugin({
      apply: ({ signal }) => {
        for (let i = 0; i < 30; i++) signal.addEventListener('abort', () => undefined);
        return done();
      },
    });
    await b.kick('j1');
    process.off('warning', note);
    expect(warnings).to.deep.equal([]);
  });

  it('leaves no timer behind', async () => {
    const b = givenPlugin();
    const before = b.clock.pending;
    await b.kick('j1');
    expect(b.clock.pending).to.equal(before);
  });

  it('stores nothing when the job was ended meanwhile, whatever the plug-in throws then', async () => {
    const b = givenPlugin({ apply: async ({ signal }) => aborted(signal) });
    await b.kick('j1');
    b.host.edit('DeployItem', 'proj/web', { status: { phase: 'Failed', jobIDFinished: 'j1' } });
    await b.rest();
    expect(b.status().lastError).to.equal(undefined);
    expect(b.events).to.deep.equal(['Warning Interrupted: processing of the deployitem was interrupted']);
  });

  it('stores nothing when the process stops, so that the next process goes on', async () => {
    const b = givenPlugin({ apply: async ({ signal }) => aborted(signal) });
    await b.kick('j1');
    b.shutdown.abort(new Error('stopped'));
    await b.rest();
    expect(b.status()).to.not.have.any.keys('lastError', 'jobIDFinished');
    expect(b.events).to.deep.equal(['thrown the request was aborted']);
  });

  it('stores nothing about a connection that the stopping process has closed', async () => {
    const closed = new ShutdownError({ message: 'the connection to https://target is closed' });
    const causes = [
      closed,
      new RetryError({ ...problem, message: `apply: ${closed.message}`, cause: closed }),
    ];
    for (const cause of causes) {
      const b = givenPlugin({ apply: () => Promise.reject(cause) });
      await b.kick('j1');
      expect(b.status()).to.not.have.any.keys('lastError', 'lastErrors', 'jobIDFinished');
      expect(b.events).to.deep.equal([`thrown ${cause.message}`]);
    }
  });

  it('stores no failure while the process stops, so that the next process repeats it', async () => {
    const stopping = new AbortController();
    const b = givenPlugin({ apply: () => retry(problem), options: { signal: stopping.signal } });
    stopping.abort();
    await b.kick('j1');
    expect(b.status()).to.not.have.any.keys('lastError', 'lastErrors', 'jobIDFinished');
  });

  it('logs the error of a plug-in that crashed', async () => {
    const lines: Parameters<typeof loggerInto>[0] = [];
    const bug = new TypeError('bug');
    const b = givenPlugin({ apply: () => Promise.reject(bug), options: { log: loggerInto(lines) } });
    await b.kick('j1');
    expect(lines).to.deep.equal([{ level: 'error', message: 'deployer crashed', fields: { err: bug } }]);
  });
});

describe('the end of the time of a job', () => {
  const hanging = (more: Partial<Parameters<typeof givenPlugin>[0]> = {}) =>
    givenPlugin({ item: { timeout: '10s', type: TYPE }, ...more });

  it('ends a request that goes on, and names the checkpoint before it', async () => {
    const b = hanging({
      apply: async (ctx) => {
        ctx.assertTimeLeft('worker: upload');
        return aborted(ctx.signal);
      },
    });
    await b.kick('j1');
    await b.pass(10_000);
    expect(b.status()).to.deep.include({ phase: 'Failed', jobIDFinished: 'j1' });
    expect(b.status().lastError?.message).to.equal(
      'timeout at: "worker: upload"\nthe job has reached its timeout of 10s',
    );
  });

  it('ends it before the plug-in is asked, too', async () => {
    const reader: TargetReader = { forget: () => false, resolve: (_, signal) => aborted(signal) };
    const b = hanging({ options: { reader }, item: { timeout: '10s', target: 'cluster-a', type: TYPE } });
    b.givenTarget();
    await b.kick('j1');
    await b.pass(10_000);
    expect(b.calls).to.deep.equal([]);
    expect(b.status().lastError).to.deep.include({
      message: 'timeout at: "deployer: before start"\nthe job has reached its timeout of 10s',
      codes: ['ERR_TIMEOUT'],
    });
  });

  const ofTimeout = {
    ...onTimeout,
    message: `${onTimeout.message}\nthe job has reached its timeout of 10s`,
  };

  it('ends it with what the job was waiting for', async () => {
    const b = hanging({
      apply: async ({ signal }, call) => {
        if (call === 1) return wait({ requeueAfterMs: 5000, onTimeout });
        return aborted(signal);
      },
    });
    await b.kick('j1');
    await b.pass(10_000);
    expect(b.times).to.deep.equal([0, 5000]);
    expect(b.status()).to.deep.include({ phase: 'Failed', jobIDFinished: 'j1' });
    expect(b.status().lastError).to.deep.include(ofTimeout);
  });

  it('ends it at once if the time was used up while the plug-in found that it has to wait', async () => {
    const { passed, open } = gate();
    const b = hanging({
      apply: async () => {
        await passed;
        return wait({ requeueAfterMs: 60_000, onTimeout });
      },
      options: { timeouts: { check: (_, left) => left } },
    });
    b.clock.at(10_500, open);
    const started = b.kick('j1');
    await b.pass(10_600);
    await started;
    expect(b.status()).to.deep.include({ phase: 'Failed', jobIDFinished: 'j1' });
  });

  it('shows what the job was waiting for when a checkpoint notices first', async () => {
    const { passed, open } = gate();
    const b = hanging({
      apply: async (ctx, call) => {
        if (call === 1) return wait({ requeueAfterMs: 5000, onTimeout });
        await passed;
        ctx.assertTimeLeft('worker: late');
        return done();
      },
    });
    b.clock.at(10_000, open);
    await b.kick('j1');
    await b.pass(10_000);
    expect(b.status().lastError).to.deep.include(ofTimeout);
  });

  it('is not what another timeout means while there is time left', async () => {
    const failing = {
      check: (name: string, left: number): number => {
        if (name !== 'worker: checked') return left;
        throw new Error('a checkpoint of its own');
      },
    };
    const b = hanging({
      options: { timeouts: failing },
      apply: (ctx, call) => {
        if (call === 1) return wait({ requeueAfterMs: 5000, onTimeout });
        ctx.assertTimeLeft('worker: checked');
        return done();
      },
    });
    await b.kick('j1');
    await b.pass(5000);
    expect(b.status().lastError?.message).to.equal('a checkpoint of its own');
    expect(b.status().jobIDFinished).to.equal(undefined);
  });

  it('does not cut off a plug-in without checkpoints that is asked afterwards', async () => {
    const { passed, open } = gate();
    const b = hanging({
      apply: async ({ signal }, call) => {
        if (call === 1) return wait({ requeueAfterMs: 10_000 });
        await passed;
        signal.throwIfAborted();
        return done();
      },
    });
    await b.kick('j1');
    b.clock.at(15_000, open);
    await b.pass(20_000);
    expect([b.times, b.status().phase]).to.deep.equal([[0, 10_000], 'Succeeded']);
  });

  it('never comes for a job without a limit, which arms no timer', async () => {
    let armed = -1;
    const b = givenPlugin({
      apply: () => {
        armed = b.clock.pending;
        return done();
      },
      item: { timeout: 'none', type: TYPE },
    });
    await b.kick('j1');
    expect(armed).to.equal(0);
  });
});

describe('credentials that a server refuses', () => {
  interface Given {
    readonly answers: readonly Outcome[];
    /** Whether tokens from before were dropped; answers of `forget`. */
    readonly hadOldTokens?: boolean;
    readonly target?: string | null;
  }
  function given({ answers, hadOldTokens = false, target = 'cluster-a' }: Given) {
    const reads: string[] = [];
    const reader: TargetReader = {
      forget: () => {
        reads.push('forget');
        return hadOldTokens;
      },
      resolve: ({ metadata, spec }) => {
        reads.push('resolve');
        const { name, namespace = '' } = metadata;
        const resolved: Partial<ResolvedTarget> = {
          name,
          namespace,
          type: spec.type,
          labels: {},
          annotations: {},
          content: undefined,
        };
        return Promise.resolve(resolved as ResolvedTarget);
      },
    };
    const b = givenPlugin({
      options: { reader } satisfies BenchOptions,
      apply: (_, call) => answers[call - 1] ?? done(),
      item: { target, type: TYPE, timeout: '1h' },
    });
    b.givenTarget();
    return { b, reads };
  }
  const codes = (b: PluginBench) => b.status().lastError?.codes ?? [];

  it('end the job when they are new', async () => {
    const { b, reads } = given({ answers: [fail(refused)] });
    await b.kick('j1');
    expect([b.status().phase, codes(b)]).to.deep.equal(['Failed', refused.codes]);
    expect(reads).to.deep.equal(['resolve', 'forget', 'forget']);
  });

  for (const [title, hadOldTokens, answers] of [
    ['a token from before was used', true, [fail(refused), done()]],
    [
      'the target was read in an earlier reconcile',
      false,
      [wait({ requeueAfterMs: 1000 }), fail(refused), done()],
    ],
    ['the plug-in wants to retry anyway', true, [retry(refused), done()]],
  ] as const) {
    it(`are read again when ${title}`, async () => {
      const { b, reads } = given({ answers, hadOldTokens });
      await b.kick('j1');
      if (answers.length > 2) await b.pass(1000);
      expect([b.status().phase, codes(b)]).to.deep.equal(['Progressing', ['ERR_CLEANUP']]);
      expect(reads).to.deep.equal(['resolve', 'forget']);
      await b.pass(1000);
      expect(b.status().phase).to.equal('Succeeded');
      expect(reads).to.deep.equal(['resolve', 'forget', 'resolve']);
    });
  }

  it('end the job when the new ones are refused as well', async () => {
    const { b } = given({ answers: [fail(refused), fail(refused)], hadOldTokens: true });
    await b.kick('j1');
    await b.pass(1000);
    expect([b.times, b.status().phase, codes(b)]).to.deep.equal([[0, 1000], 'Failed', refused.codes]);
  });

  it('end the job when the target of an earlier reconcile has changed since', async () => {
    const { b } = given({ answers: [wait({ requeueAfterMs: 1000 }), fail(refused)] });
    await b.kick('j1');
    b.host.edit('Target', 'proj/cluster-a', { metadata: { labels: { changed: 'yes' } } });
    await b.pass(1000);
    expect(b.status().phase).to.equal('Failed');
  });

  it('end the job of an item without a target, and tokens that are kept are dropped', async () => {
    const { b, reads } = given({ answers: [fail(refused)], hadOldTokens: true, target: null });
    await b.kick('j1');
    expect([b.status().phase, reads]).to.deep.equal(['Failed', ['forget']]);
  });

  for (const [title, answer] of [
    ['another failure', fail(problem)],
    ['a failure that may pass', retry({ ...problem, codes: ['ERR_CLEANUP'] })],
  ] as const) {
    it(`are not meant by ${title}`, async () => {
      const { b, reads } = given({ answers: [answer], hadOldTokens: true });
      await b.kick('j1');
      expect(b.status().phase).to.equal(answer.kind === 'fail' ? 'Failed' : 'Progressing');
      expect(reads).to.deep.equal(['resolve']);
    });
  }

  it('are read again when a plug-in throws that they are refused', async () => {
    const throwing: Answer = (_, call) => {
      if (call === 1) throw new UnauthorizedError(problem);
      return done();
    };
    const b = givenPlugin({
      apply: throwing,
      options: { reader: { forget: () => true, resolve: () => Promise.resolve({} as ResolvedTarget) } },
      item: { target: 'cluster-a', type: TYPE, timeout: '1h' },
    });
    b.givenTarget();
    await b.kick('j1');
    expect([b.status().phase, codes(b)]).to.deep.equal(['Progressing', []]);
    await b.pass(1000);
    expect(b.status().phase).to.equal('Succeeded');
  });
});

describe('what the webhooks refuse, where they were not asked', () => {
  it('fails the job of an item before anything is read or written', async () => {
    const b = givenPlugin({ item: { type: TYPE, target: '' } });
    await b.kick('j1');
    expect(b.calls).to.deep.equal([]);
    expect(b.status().lastError).to.deep.include({
      operation: 'reconcile',
      reason: 'ValidateDeployItem',
      message: 'spec.target.name: Required value: target name must not be empty',
    });
    expect(b.item().metadata.finalizers).to.equal(undefined);
  });

  it('fails the job of an item whose target is refused', async () => {
    const b = givenPlugin({ item: { type: TYPE, target: 'cluster-a' } });
    b.givenTarget();
    b.host.edit('Target', 'proj/cluster-a', { spec: { config: { kubeconfig: 'x' } } });
    await b.kick('j1');
    expect(b.calls).to.deep.equal([]);
    expect(b.status().lastError).to.deep.include({ operation: 'reconcile', reason: 'ValidateTarget' });
    expect(b.status().lastError?.message).to.match(/^target cluster-a: spec: Invalid value/);
  });

  it('does not keep an item from being removed', async () => {
    const b = givenPlugin({ item: { type: TYPE, target: '', finalizers: [FINALIZER] } });
    await b.delete();
    await b.kick('j1');
    expect([b.directions, b.isGone()]).to.deep.equal([['remove'], true]);
  });
});
