/** Which jobs a deployer starts or takes over, and which items it leaves alone. */
import { expect } from 'chai';
import { fail, retry, wait, done } from '../../../../deployers/sdk/index.ts';
import { LS } from '../bench.ts';
import { givenPlugin, loggerInto, NAME, pluginOf, TYPE } from '../plugin-bench.ts';

const FINALIZER = `finalizer.${LS}`;
const problem = { operation: 'Op', reason: 'Re', message: 'no' };
const finished = { observedGeneration: 1, phase: 'Succeeded', jobID: 'j1', jobIDFinished: 'j1' };
const lastReconcileTime = '2026-01-01T00:00:00Z';
const TEN_MINUTES = 600_000;

describe('an item that a deployer leaves alone', () => {
  it('is an item of another type, even with an open job', async () => {
    const b = givenPlugin({ item: { type: 'example.org/other' } });
    await b.kick('j1');
    await b.restart(pluginOf({}, () => b));
    expect([b.passes, b.calls, b.status().phase]).to.deep.equal([1, [], undefined]);
  });

  const idle: readonly (readonly [string, Parameters<typeof givenPlugin>[0]])[] = [
    ['and no schedule', {}],
    ['and a schedule for other items', { plugin: { schedule: () => undefined } }],
    [
      'and a schedule that the administrator switched off',
      {
        plugin: { schedule: () => ({ every: '10m' }) },
        options: { config: { continuousReconcile: { enabled: false } } },
      },
    ],
  ];
  for (const [title, given] of idle) {
    it(`is an item without an open job ${title}: not even its target is read`, async () => {
      const b = givenPlugin({ ...given, item: { target: 'not-in-the-cache' } });
      b.host.edit('DeployItem', 'proj/web', { status: { ...finished, lastReconcileTime } });
      await b.restart(pluginOf(given ?? {}, () => b));
      expect([b.requeues.at(-1), b.host.takeRequests()]).to.deep.equal([undefined, []]);
    });
  }

  it('is an unchanged item that asks to be updated on changes only: its job succeeds at once', async () => {
    const ends: string[] = [];
    const metrics = {
      jobEnded: (...[name, phase, seconds]: [string, string, number]) =>
        ends.push(`${name} ${phase} ${String(seconds)}`),
      reconcileFailed: () => undefined,
    };
    const b = givenPlugin({ options: { metrics }, item: { updateOnChangeOnly: true } });
    await b.kick('j1');
    await b.pass(60_000);
    await b.kick('j2');
    expect(b.times).to.deep.equal([0]);
    expect(b.status()).to.deep.include({ phase: 'Succeeded', jobIDFinished: 'j2' });
    expect(ends).to.deep.equal([`${NAME} Succeeded 0`, `${NAME} Succeeded 0`]);
  });
});

describe('the operation test-reconcile', () => {
  const ask = { metadata: { annotations: { [`${LS}/operation`]: 'test-reconcile' } } };

  it('starts a job of its own that applies the item', async () => {
    const b = givenPlugin();
    b.host.edit('DeployItem', 'proj/web', ask);
    await b.rest();
    expect(b.directions).to.deep.equal(['apply']);
    expect(b.status().jobID).to.match(/^[0-9a-f-]{36}$/);
    expect(b.item().metadata.annotations).to.not.have.property(`${LS}/operation`);
    expect(b.status().transitionTimes).to.deep.equal({
      triggerTime: '2026-01-01T00:00:00Z',
      initTime: '2026-01-01T00:00:00Z',
      finishedTime: '2026-01-01T00:00:00Z',
    });
  });

  it('starts a job that removes an item that is being deleted', async () => {
    const b = givenPlugin({ item: { finalizers: [FINALIZER] } });
    await b.delete();
    b.host.edit('DeployItem', 'proj/web', ask);
    await b.rest();
    expect([b.directions, b.isGone()]).to.deep.equal([['remove'], true]);
  });
});

describe('a job that follows a schedule', () => {
  const schedule = () => ({ every: '10m' });

  it('begins at the second in which it is due, after a restart as well', async () => {
    const b = givenPlugin({ plugin: { schedule } });
    await b.kick('j1');
    expect(b.requeues).to.deep.equal([TEN_MINUTES]);
    await b.pass(60_000);
    await b.restart(pluginOf({ plugin: { schedule } }, () => b));
    expect(b.requeues.at(-1)).to.equal(TEN_MINUTES - 60_000);
    await b.pass(TEN_MINUTES);
    expect(b.times).to.deep.equal([0, TEN_MINUTES]);
    expect(b.status().transitionTimes).to.deep.equal({
      triggerTime: '2026-01-01T00:10:00Z',
      initTime: '2026-01-01T00:10:00Z',
      finishedTime: '2026-01-01T00:10:00Z',
    });
  });

  it('never begins when the schedule names no time', async () => {
    const given = { plugin: { schedule: () => ({ every: '0s' }) } };
    const b = givenPlugin(given);
    await b.kick('j1');
    await b.restart(pluginOf(given, () => b));
    expect(b.requeues).to.deep.equal([undefined, undefined]);
  });

  it('does not begin while the target is missing', async () => {
    const b = givenPlugin({ plugin: { schedule }, item: { target: 'cluster-a' } });
    b.givenTarget();
    await b.kick('j1');
    b.host.drop('Target', 'proj/cluster-a');
    await b.pass(TEN_MINUTES);
    expect([b.times, b.requeues.at(-1), b.status().jobID]).to.deep.equal([[0], undefined, 'j1']);
  });
});

describe('what the SDK keeps of a job between two reconciles', () => {
  const seen = (ctx: { readonly scratch: Map<string, unknown> }) => {
    const before = ctx.scratch.get('n') ?? 0;
    ctx.scratch.set('n', Number(before) + 1);
    return before;
  };
  const reopen = { status: { jobIDFinished: null } };

  it('is lost when another controller ends the job', async () => {
    const before: unknown[] = [];
    const b = givenPlugin({
      apply: (ctx) => (before.push(seen(ctx)), wait({ requeueAfterMs: 1000 })),
      plugin: { onJobEnded: () => Promise.resolve() },
    });
    await b.kick('j1');
    await b.pass(1000);
    b.host.edit('DeployItem', 'proj/web', { status: { jobIDFinished: 'j1' } });
    await b.rest();
    b.host.edit('DeployItem', 'proj/web', reopen);
    await b.rest();
    expect(before).to.deep.equal([0, 1, 0]);
  });

  it('is lost when the job ends', async () => {
    const before: unknown[] = [];
    const b = givenPlugin({ apply: (ctx) => (before.push(seen(ctx)), fail(problem)) });
    await b.kick('j1');
    b.host.edit('DeployItem', 'proj/web', reopen);
    await b.rest();
    expect(before).to.deep.equal([0, 0]);
  });
});

describe('a write of the item that fails', () => {
  it('is followed by another reconcile soon when the item changed meanwhile', async () => {
    const b = givenPlugin();
    let conflicts = 0;
    b.host.fail = (verb, what) => {
      if (verb === 'merge/status' && conflicts++ === 0) {
        b.host.fail = () => undefined;
        b.host.edit('DeployItem', what.split(' ')[1] ?? '', { metadata: { labels: { changed: 'yes' } } });
      }
    };
    await b.kick('j1');
    await b.pass(100);
    expect(b.status()).to.deep.include({ phase: 'Succeeded', jobIDFinished: 'j1' });
    expect(b.events).to.deep.equal([]);
    expect(b.requeues).to.deep.equal([100, undefined]);
  });

  it('ends the reconcile when the item is gone', async () => {
    const b = givenPlugin();
    b.host.fail = (verb) => {
      if (verb === 'merge/status') b.host.drop('DeployItem', 'proj/web');
    };
    await b.kick('j1');
    expect([b.requeues, b.events]).to.deep.equal([[undefined], []]);
  });

  it('counts, whatever the plug-in makes of it', async () => {
    const b = givenPlugin({
      apply: async (ctx, call) => {
        if (call === 1) b.host.edit('DeployItem', 'proj/web', { metadata: { labels: { changed: 'yes' } } });
        await ctx.begin({ call }).catch(() => {
          throw new Error('a wrapped error');
        });
        return done();
      },
    });
    await b.kick('j1');
    await b.pass(100);
    expect(b.status().lastError).to.equal(undefined);
    expect(b.status()).to.deep.include({ phase: 'Succeeded', providerStatus: { call: 2 } });
  });
});

describe('the beginning of work outside', () => {
  it('is stored with the provider status, or leaves it as it was', async () => {
    const b = givenPlugin({
      apply: async (ctx, call) => {
        await ctx.begin(call === 1 ? { name: 'x' } : undefined);
        return call < 3 ? wait({ requeueAfterMs: 1000 }) : done();
      },
    });
    await b.kick('j1');
    await b.pass(3000);
    expect(b.history.slice(1).map(({ phase, providerStatus }) => [phase, providerStatus])).to.deep.equal([
      ['Progressing', { name: 'x' }],
      ['Succeeded', { name: 'x' }],
    ]);
  });

  it('keeps the phase of a removal', async () => {
    const b = givenPlugin({
      item: { finalizers: [FINALIZER] },
      remove: async (ctx, call) => {
        if (call === 1) return retry(problem);
        await ctx.begin({ call });
        return call === 2 ? wait({ requeueAfterMs: 1000 }) : done();
      },
    });
    await b.delete();
    await b.kick('j1');
    expect(b.phases()).to.deep.equal(['InitDelete', 'Deleting']);
    await b.pass(1000);
    expect(b.phases()).to.deep.equal(['InitDelete', 'Deleting']);
    await b.pass(1000);
    expect(b.isGone()).to.equal(true);
  });
});

describe('unknown fields in a configuration', () => {
  const unread = () => ['a is ignored', 'b is ignored'];
  const config = { decode: (value: unknown) => value, unread };
  const told = 'Warning UnreadFields: in the configuration: a is ignored; b is ignored';

  it('are reported in the log and by an event when a job begins', async () => {
    const lines: Parameters<typeof loggerInto>[0] = [];
    const b = givenPlugin({ plugin: { config }, options: { log: loggerInto(lines) } });
    await b.kick('j1');
    expect(b.events).to.deep.equal([told]);
    expect(lines).to.deep.equal([
      {
        level: 'warn',
        message: 'unknown fields in the provider configuration',
        fields: { fields: unread() },
      },
    ]);
  });

  it('are reported again only when a job begins, not while one goes on', async () => {
    const b = givenPlugin({ plugin: { config }, apply: () => wait({ requeueAfterMs: 1000 }) });
    await b.kick('j1');
    b.configure({ other: true });
    await b.pass(3000);
    expect(b.events).to.deep.equal([told]);
    await b.kick('j2');
    expect(b.events).to.deep.equal([told, told]);
  });

  it('are not reported for a removal', async () => {
    const b = givenPlugin({ plugin: { config }, item: { finalizers: [FINALIZER] } });
    await b.delete();
    await b.kick('j1');
    expect([b.events, b.isGone()]).to.deep.equal([[], true]);
  });
});

describe('a job without a target that exists', () => {
  it('ends after no time at all, by the metrics, when it has no times yet', async () => {
    const ends: string[] = [];
    const metrics = {
      jobEnded: (...[name, phase, seconds]: [string, string, number]) =>
        ends.push(`${name} ${phase} ${String(seconds)}`),
      reconcileFailed: () => undefined,
    };
    const b = givenPlugin({ options: { metrics }, item: { target: 'gone' } });
    b.host.edit('DeployItem', 'proj/web', { status: { observedGeneration: 0, jobID: 'j1' } });
    await b.rest();
    expect(ends).to.deep.equal([`${NAME} Failed 0`]);
    expect(b.status()).to.deep.include({ phase: 'Failed', jobIDFinished: 'j1' });
  });

  it('is not ended by a deployer for items with other targets', async () => {
    const b = givenPlugin({ options: { config: { claimUntargeted: false } } });
    await b.kick('j1');
    expect([b.calls, b.status().phase]).to.deep.equal([[], undefined]);
  });
});

describe('the end of the time of a job', () => {
  it('is when the plug-in is asked once more, and not sooner than it says afterwards', async () => {
    const b = givenPlugin({
      apply: () => wait({ requeueAfterMs: TEN_MINUTES }),
      item: { timeout: '10s', type: TYPE },
    });
    await b.kick('j1');
    await b.pass(60_000);
    expect(b.times).to.deep.equal([0, 10_000]);
    expect(b.requeues).to.deep.equal([10_000, TEN_MINUTES]);
  });
});
