/** What a plug-in is given for one reconcile, and what is refused before. */
import { expect } from 'chai';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import {
  contextOf,
  deployContextOf,
  neverApplied,
  refuseInvalid,
  type DeployContextPorts,
} from '../../../../deployers/sdk/deploy-context.ts';
import { definePlugin, done, type DeployerPlugin } from '../../../../deployers/sdk/index.ts';
import { ConfigurationError, DeployerError, RetryError } from '../../../../deployers/sdk/errors.ts';
import type { ContextObject, DeployItem, Target } from '../../../../deployers/sdk/kinds.ts';
import type { ResolvedTarget } from '../../../../deployers/sdk/target.ts';
import { standardTimeouts } from '../../../../deployers/sdk/timeout.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { deleting, item } from '../../../support/given.ts';
import { LS } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';
import { NAME, TYPE } from '../plugin-bench.ts';

const TOO_LONG = 9007199254740993n;

const refusing = (error: Error) => ({
  decode: (): never => {
    throw error;
  },
});
const pluginWith = (more: Partial<DeployerPlugin> = {}): DeployerPlugin =>
  definePlugin({
    type: TYPE,
    name: NAME,
    version: '1',
    config: { decode: (document: unknown) => document },
    apply: () => Promise.resolve(done()),
    remove: () => Promise.resolve(done()),
    ...more,
  });

function given(more: Partial<DeployContextPorts> = {}) {
  const host = new FakeCluster('demo');
  const bounds = {
    left: () => 1000,
    signal: new AbortController().signal,
    deadline: { lastStep: 'start' },
  };
  const ports: DeployContextPorts = {
    plugin: pluginWith(),
    client: host,
    timeouts: standardTimeouts,
    managersOf: () => [],
    contexts: { get: () => undefined },
    targets: { get: () => undefined },
    reader: { forget: () => false, resolve: () => Promise.reject(new Error('no secret')) },
    clock: new FakeClock(),
    rng: seededRng(1),
    ...more,
  };
  const contextFor = (one: View<DeployItem>) =>
    deployContextOf(
      {
        item: one,
        log: silentLogger,
        scratch: new Map<string, unknown>(),
        begin: () => Promise.resolve(),
        event: () => undefined,
      },
      ports,
      bounds,
      { target: undefined, context: {} as View<ContextObject> },
    );
  return { host, ports, bounds, contextFor };
}

const changed = (spec: object, status: object = {}, metadata: object = {}): View<DeployItem> => {
  const one = item('exec', 'web', { jobID: 'j1', ...status }, metadata);
  return { ...one, spec: { ...one.spec, ...spec } };
};

function thrownBy(fn: () => unknown): unknown {
  try {
    fn();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
const placeOf = (error: unknown): object => {
  if (!(error instanceof DeployerError)) throw error;
  const { operation, reason, message } = error;
  return { operation, reason, message };
};

describe('an item or a target that the webhooks would refuse', () => {
  const target = (spec: object): View<Target> => ({
    apiVersion: `${LS}/v1alpha1`,
    kind: 'Target',
    metadata: { name: 'a', namespace: 'demo' },
    spec: { type: 'x/y', ...spec },
  });
  const both = target({ config: {}, secretRef: { name: 's' } });

  it('is refused with the rule that it breaks', () => {
    const refusal = (one: View<DeployItem>, its?: View<Target>) => {
      const error = thrownBy(() => {
        refuseInvalid(one, its, 'op');
      });
      expect(error).to.be.instanceOf(ConfigurationError);
      return placeOf(error);
    };
    expect(refusal(changed({ type: '' }))).to.deep.equal({
      operation: 'op',
      reason: 'ValidateDeployItem',
      message: 'spec.type: Required value: type must not be empty',
    });
    expect(refusal(changed({}), both)).to.deep.include({ operation: 'op', reason: 'ValidateTarget' });
    expect((refusal(changed({}), both) as { message: string }).message).to.match(/^target a: spec: /);
  });

  it('is all that is refused', () => {
    for (const its of [undefined, target({}), target({ config: {} })])
      expect(() => {
        refuseInvalid(changed({}), its, 'op');
      }).to.not.throw();
  });
});

describe('a deletion of an item that was never applied', () => {
  const ended = { jobID: 'b', jobIDFinished: 'a', neverStarted: 'a', phase: 'InitDelete' };
  const unreadable = new CodecError({ step: 'decode', message: 'no' });
  const rows: readonly (readonly [string, View<DeployItem>, DeployerPlugin, boolean])[] = [
    [
      'has a provider status',
      changed({}, { ...ended, providerStatus: {} }),
      pluginWith({ config: refusing(unreadable) }),
      false,
    ],
    ['has a configuration that can be read', changed({ config: { a: 1 } }, ended), pluginWith(), false],
    [
      'has a configuration that cannot be read',
      changed({}, ended),
      pluginWith({ config: refusing(unreadable) }),
      true,
    ],
    [
      'has had a job that started, and a configuration that cannot be read',
      changed({}, { ...ended, jobIDFinished: 'later' }),
      pluginWith({ config: refusing(unreadable) }),
      false,
    ],
    [
      'has no record of its jobs, and a configuration that cannot be read',
      changed({}),
      pluginWith({ config: refusing(unreadable) }),
      false,
    ],
    [
      'has an integer that would lose digits',
      changed({ config: { a: TOO_LONG } }, ended),
      pluginWith(),
      true,
    ],
    [
      'has such an integer and a provider status',
      changed({ config: { a: TOO_LONG } }, { ...ended, providerStatus: {} }),
      pluginWith(),
      false,
    ],
  ];
  for (const [title, one, plugin, expected] of rows) {
    it(`${expected ? 'has' : 'may have'} ${expected ? 'nothing' : 'something'} to uninstall when it ${title}`, () => {
      expect(neverApplied(one, plugin)).to.equal(expected);
    });
  }

  it('does not hide a bug of the plug-in', () => {
    const bug = pluginWith({ config: refusing(new TypeError('bug')) });
    expect(() => neverApplied(changed({}, ended), bug)).to.throw(TypeError, 'bug');
  });

  it('is judged by an item without a status as well', () => {
    const { status: _, ...fresh } = changed({});
    expect(neverApplied(fresh, pluginWith())).to.equal(false);
  });
});

describe('the Context of an item', () => {
  const known = { apiVersion: `${LS}/v1alpha1`, kind: 'Context', metadata: { name: 'c', namespace: 'demo' } };

  it('comes from the cache, without a request', async () => {
    const { host, ports, bounds } = given({
      contexts: { get: (key) => (key === 'demo/c' ? known : undefined) },
    });
    expect(await contextOf(changed({ context: 'c' }), ports, bounds, 'reconcile')).to.equal(known);
    expect(host.takeRequests()).to.deep.equal([]);
  });

  it('is read from the server while the cache lacks it, and is called default unless the item says otherwise', async () => {
    const { host, ports, bounds } = given();
    const there = host.put({ ...known, metadata: { name: 'default', namespace: 'demo' } });
    for (const context of ['default', '', undefined])
      expect(await contextOf(changed({ context }), ports, bounds, 'reconcile')).to.deep.equal(there);
  });

  const missing = async (operation: string, one: View<DeployItem>): Promise<unknown> => {
    const { ports, bounds } = given();
    return contextOf(one, ports, bounds, operation).catch((error: unknown) => error);
  };

  it('is a problem that may pass while it is missing', async () => {
    const error = await missing('reconcile', changed({ context: 'c' }));
    expect(error).to.be.instanceOf(RetryError);
    expect(placeOf(error)).to.deep.equal({
      operation: 'reconcile',
      reason: 'GetLandscaperContext',
      message: 'unable to get the Context demo/c: it does not exist',
    });
    expect((error as Error).cause).to.be.instanceOf(Error);
  });

  it('is a problem that may pass while the server does not answer, for a deletion as well', async () => {
    for (const operation of ['reconcile', 'delete']) {
      const { host, ports, bounds } = given();
      host.fail = () => {
        throw new Error('no answer');
      };
      const error = await contextOf(changed({}, {}, deleting), ports, bounds, operation).catch(
        (e: unknown) => e,
      );
      expect(error).to.be.instanceOf(RetryError);
      expect(placeOf(error)).to.deep.include({
        operation,
        message: 'unable to get the Context demo/default: no answer',
      });
    }
  });

  it('ends a job that installs when it is missing and the item is being deleted', async () => {
    const error = await missing('reconcile', changed({ context: 'c' }, {}, deleting));
    expect(error).to.be.instanceOf(ConfigurationError);
    expect(placeOf(error)).to.deep.equal({
      operation: 'reconcile',
      reason: 'GetLandscaperContext',
      message: 'the Context demo/c no longer exists, and the deploy item is being deleted',
    });
  });

  it('is replaced by an empty one for a removal when it is missing', async () => {
    const empty = { apiVersion: `${LS}/v1alpha1`, kind: 'Context' };
    expect(await missing('delete', changed({ context: 'c' }, {}, deleting))).to.deep.equal({
      ...empty,
      metadata: { name: 'c', namespace: 'demo' },
    });
    const { context: _, ...spec } = changed({}).spec;
    const one = { ...changed({}, {}, { namespace: undefined }), spec } as View<DeployItem>;
    expect(await missing('delete', one)).to.deep.equal({ ...empty, metadata: { name: 'default' } });
  });

  it('is not read when no time is left', async () => {
    const { host, ports, bounds } = given();
    const late = contextOf(changed({}), ports, { ...bounds, left: () => 0 }, 'reconcile');
    expect(await late.catch((error: unknown) => (error as Error).message)).to.equal(
      'timeout at: "deployer: before start"',
    );
    expect(host.takeRequests()).to.deep.equal([]);
  });
});

describe('what a plug-in is given', () => {
  const config = { decode: (document: unknown) => ['config', document] };
  const status = { decode: (document: unknown) => ['status', document] };

  it('is its configuration and its provider status, read by its codecs', () => {
    const one = changed({ config: { a: 1 } }, { providerStatus: { b: 2 } });
    const read = given({ plugin: pluginWith({ config, status }) }).contextFor(one);
    expect([read.config, read.previous]).to.deep.equal([
      ['config', { a: 1 }],
      ['status', { b: 2 }],
    ]);
    expect(given().contextFor(one).previous).to.deep.equal({ b: 2 });
    expect(given({ plugin: pluginWith({ status }) }).contextFor(changed({})).previous).to.equal(undefined);
    const { status: _, ...fresh } = one;
    expect(given({ plugin: pluginWith({ status }) }).contextFor(fresh).previous).to.equal(undefined);
  });

  const named = { initOperation: 'InitWorker', decodeReason: 'Decode' } as const;
  const decode = refusing(new CodecError({ step: 'decode', message: 'cannot be read' }));
  const validate = refusing(new CodecError({ step: 'validate', message: 'makes no sense' }));
  const bug = refusing(new Error('bug'));
  const withStatus = changed({}, { providerStatus: {} });
  const rows: readonly (readonly [string, Partial<DeployerPlugin>, View<DeployItem>, readonly string[]])[] = [
    [
      'a configuration',
      { config: decode },
      changed({}),
      ['Init', 'ParseProviderConfiguration', 'cannot be read'],
    ],
    [
      'a configuration, in the words of the plug-in',
      { config: decode, ...named },
      changed({}),
      ['InitWorker', 'DecodeProviderConfiguration', 'cannot be read'],
    ],
    [
      'a configuration that makes no sense',
      { config: validate, ...named },
      changed({}),
      ['InitWorker', 'ValidateProviderConfiguration', 'makes no sense'],
    ],
    ['a provider status', { status: decode }, withStatus, ['Init', 'ParseProviderStatus', 'cannot be read']],
    ['a codec with a bug', { config: bug }, changed({}), ['Init', 'ParseProviderConfiguration', 'bug']],
    [
      'an integer that would lose digits',
      {},
      changed({ config: { a: [TOO_LONG] } }),
      ['Init', 'ParseProviderConfiguration', 'deploy item demo/exec-web-x: spec.config.a[0]'],
    ],
    [
      'an integer that would lose digits, in the words of the plug-in',
      named,
      changed({ config: { a: TOO_LONG } }, {}, { namespace: undefined }),
      ['InitWorker', 'DecodeProviderConfiguration', 'deploy item /exec-web-x: spec.config.a'],
    ],
  ];
  for (const [title, plugin, one, [operation, reason, message = '']] of rows) {
    it(`ends the job because of ${title}`, () => {
      const error = thrownBy(() => given({ plugin: pluginWith(plugin) }).contextFor(one)) as DeployerError;
      expect(error.codes).to.deep.equal([
        title === 'a codec with a bug' ? 'ERR_INTERNAL_PROBLEM' : 'ERR_CONFIGURATION_PROBLEM',
      ]);
      expect([error.operation, error.reason]).to.deep.equal([operation, reason]);
      expect(error.message.startsWith(message), error.message).to.equal(true);
    });
  }

  it('reports the remaining time at each step, and stops when the reconcile is to stop', () => {
    const { contextFor, bounds } = given();
    expect(contextFor(changed({})).assertTimeLeft('worker: here')).to.equal(1000);
    expect(bounds.deadline.lastStep).to.equal('worker: here');
    const stopped = new AbortController();
    const { ports } = given();
    const ctx = deployContextOf(
      {
        item: changed({}),
        log: silentLogger,
        scratch: new Map<string, unknown>(),
        begin: () => Promise.resolve(),
        event: () => undefined,
      },
      ports,
      { ...bounds, signal: stopped.signal },
      { target: undefined, context: {} as View<ContextObject> },
    );
    stopped.abort(new Error('stopped'));
    expect(() => ctx.assertTimeLeft('worker: there')).to.throw('stopped');
    expect(bounds.deadline.lastStep).to.equal('worker: there');
  });
});

describe('a secondary target', () => {
  const other = {
    apiVersion: `${LS}/v1alpha1`,
    kind: 'Target',
    metadata: { name: 'other', namespace: 'demo' },
    spec: { type: 'x/y' },
  };
  const resolved = (content: string | undefined) =>
    ({ name: 'other', namespace: 'demo', type: 'x/y', content }) as unknown as ResolvedTarget;
  const ask = async (more: Partial<DeployContextPorts>, isThere = true) => {
    const { host, contextFor, ports } = given(more);
    if (isThere) host.put(other);
    const { secondaryTarget } = contextFor(changed({}));
    return { ports, host, answer: await secondaryTarget('other').catch((error: unknown) => error) };
  };
  const reader = (content: string | undefined) => ({
    forget: () => false,
    resolve: () => Promise.resolve(resolved(content)),
  });

  it('comes from the cache or from the server', async () => {
    const cached = await ask({ reader: reader(undefined), targets: { get: () => other } }, false);
    expect(cached.answer).to.deep.equal(resolved(undefined));
    expect(cached.host.takeRequests()).to.deep.equal([]);
    const read = await ask({ reader: reader(undefined) });
    expect(read.answer).to.deep.equal(resolved(undefined));
    expect(read.host.takeRequests()).to.deep.equal(['get Target demo/other']);
  });

  it('is a problem that may pass while it cannot be read', async () => {
    const place = { operation: 'SecondaryTarget', reason: 'ReadSecondaryTarget' };
    const { answer: missing } = await ask({}, false);
    expect(missing).to.be.instanceOf(RetryError);
    expect(placeOf(missing)).to.deep.include(place);
    expect((missing as Error).message).to.match(
      /^unable to read secondary target other: targets "demo\/other"|^unable to read secondary target other: .*not found/,
    );
    const { answer: unresolved } = await ask({});
    expect(unresolved).to.be.instanceOf(RetryError);
    expect(placeOf(unresolved)).to.deep.equal({
      ...place,
      message: 'unable to resolve secondary target other: no secret',
    });
    expect((unresolved as Error).cause).to.be.instanceOf(Error);
  });

  it('ends the job when its content is refused', async () => {
    const { answer } = await ask({ reader: reader('{') });
    expect(answer).to.be.instanceOf(ConfigurationError);
    expect(placeOf(answer)).to.deep.include({ operation: 'SecondaryTarget', reason: 'ValidateTarget' });
  });
});
