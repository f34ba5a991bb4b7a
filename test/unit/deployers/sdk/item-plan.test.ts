/** What the SDK asks of a plug-in to plan the next job of an item, and what ends the plan before. */
import { expect } from 'chai';
import type { DeployContext, DeployerPlugin } from '../../../../deployers/sdk/index.ts';
import { ConfigurationError, DeployerError, RetryError } from '../../../../deployers/sdk/errors.ts';
import { nothingPlanned, type ItemPlan } from '../../../../deployers/sdk/item-plan.ts';
import type { Target } from '../../../../deployers/sdk/kinds.ts';
import { planItem, withoutWrites, type PlanAt } from '../../../../deployers/sdk/plan.ts';
import type { ResolvedTarget } from '../../../../deployers/sdk/target.ts';
import { standardTimeouts } from '../../../../deployers/sdk/timeout.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { deleting, item } from '../../../support/given.ts';
import { LS } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';
import { pluginOf, type PluginBench } from '../plugin-bench.ts';

const target = {
  apiVersion: `${LS}/v1alpha1`,
  kind: 'Target',
  metadata: { name: 'a', namespace: 'demo' },
  spec: { type: 'x/y' },
} as View<Target>;
const plan: ItemPlan = { objects: [], notes: ['planned'] };

interface Given {
  readonly direction?: PlanAt['direction'];
  readonly spec?: object;
  readonly metadata?: object;
  readonly status?: object;
  /** Of the target; absent: the item has none. */
  readonly content?: string;
  readonly isContextMissing?: boolean;
  readonly before?: (host: FakeCluster) => unknown;
  readonly plan?: DeployerPlugin['plan'] | null;
  readonly config?: DeployerPlugin['config'];
}

async function planned(given: Given): Promise<{ answer: unknown; host: FakeCluster }> {
  const host = new FakeCluster('demo');
  if (!given.isContextMissing)
    host.put({
      apiVersion: `${LS}/v1alpha1`,
      kind: 'Context',
      metadata: { name: 'default', namespace: 'demo' },
    });
  given.before?.(host);
  const { plan: answers = () => Promise.resolve(plan), direction = 'apply' } = given;
  const more = {
    ...(answers !== null && { plan: answers }),
    ...(given.config && { config: given.config }),
  };
  const base = item('exec', 'web', {}, given.metadata);
  const at: PlanAt = {
    item: {
      ...base,
      spec: { ...base.spec, ...given.spec },
      ...(given.status && { status: { observedGeneration: 1, ...given.status } }),
    },
    direction,
    log: silentLogger,
    signal: new AbortController().signal,
    target: given.content === undefined ? undefined : target,
  };
  const answer = planItem(at, {
    plugin: pluginOf({ plugin: more }, () => ({}) as PluginBench),
    client: host,
    timeouts: standardTimeouts,
    managersOf: () => [],
    contexts: { get: () => undefined },
    targets: { get: () => undefined },
    reader: {
      forget: () => false,
      resolve: () => Promise.resolve({ name: 'a', content: given.content } as ResolvedTarget),
    },
    clock: new FakeClock(),
    rng: seededRng(1),
  });
  return { answer: await answer.catch((error: unknown) => error), host };
}

const placeOf = (error: unknown) => {
  if (!(error instanceof DeployerError)) throw error;
  return { operation: error.operation, reason: error.reason };
};

describe('the plan of an item', () => {
  it('is the answer of the plug-in, and what it reports by events', async () => {
    let ctx: DeployContext | undefined;
    const { answer } = await planned({
      content: '{}',
      plan: async (given, direction) => {
        ctx = given;
        given.event('Warning', 'Reason', `an event of ${direction}`);
        const begun = given.begin();
        expect(begun).to.be.instanceOf(Promise);
        await begun;
        return plan;
      },
    });
    expect(answer).to.deep.equal({ objects: [], notes: ['planned', 'an event of apply'] });
    expect(ctx?.assertTimeLeft('worker: here')).to.equal(Infinity);
    expect(ctx?.context.metadata.name).to.equal('default');
    expect(ctx?.target?.name).to.equal('a');
  });

  it('is unknown when the plug-in cannot tell', async () => {
    expect((await planned({ plan: () => Promise.resolve(undefined) })).answer).to.equal(undefined);
    expect((await planned({ plan: null })).answer).to.equal(undefined);
  });

  it('is made with clients that write nothing', async () => {
    const own = {
      apiVersion: `${LS}/v1alpha1`,
      kind: 'DeployItem',
      name: 'exec-web-x',
      uid: 'uid-exec-web-x',
    };
    const { host, answer } = await planned({
      before: (cluster) =>
        cluster.put({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'mine', namespace: 'demo', ownerReferences: [own] },
        }),
      plan: async ({ host: beside }) => {
        await beside.deleteSecret('mine');
        return plan;
      },
    });
    expect(answer).to.deep.equal(plan);
    expect(host.takeRequests()).to.include('delete?dryRun Secret demo/mine');
    expect(host.names('Secret')).to.deep.equal(['demo/mine']);
  });

  const removal = { direction: 'remove', metadata: deleting } as const;
  it('is that nothing is uninstalled when the item is deleted without uninstalling', async () => {
    const annotations = { [`${LS}/delete-without-uninstall`]: 'true' };
    const { answer } = await planned({ ...removal, metadata: { ...deleting, annotations } });
    expect(answer).to.deep.equal({
      objects: [],
      notes: ['nothing is uninstalled: the item is deleted without uninstalling'],
    });
  });

  it('is empty for the removal of an item that was never applied', async () => {
    const status = { jobID: 'j1', jobIDFinished: 'j1', phase: 'Failed', neverStarted: 'j1' };
    const { answer } = await planned({ ...removal, spec: { config: 9007199254740993n }, status });
    expect(answer).to.equal(nothingPlanned);
  });

  it('refuses a configuration that cannot be read if nothing says that no job has started', async () => {
    const { answer } = await planned({ ...removal, spec: { config: 9007199254740993n } });
    expect(answer).to.be.an.instanceOf(Error);
  });

  const refused: readonly (readonly [string, Given, object])[] = [
    [
      'an item that the webhooks would refuse',
      { spec: { type: '' } },
      { operation: 'reconcile', reason: 'ValidateDeployItem' },
    ],
    [
      'content of a target that is refused',
      { content: '{' },
      { operation: 'reconcile', reason: 'ValidateTarget' },
    ],
    [
      'such content in a removal',
      { ...removal, content: '{' },
      { operation: 'delete', reason: 'ValidateTarget' },
    ],
    [
      'a missing configuration',
      { spec: { config: undefined } },
      { operation: 'reconcile', reason: 'ProviderConfigurationMissing' },
    ],
  ];
  for (const [title, given, place] of refused) {
    it(`ends with what would end the job: ${title}`, async () => {
      const { answer } = await planned(given);
      expect(answer).to.be.instanceOf(ConfigurationError);
      expect(placeOf(answer)).to.deep.equal(place);
    });
  }

  it('ends with what the job would retry', async () => {
    const { answer } = await planned({ isContextMissing: true });
    expect(answer).to.be.instanceOf(RetryError);
    expect(placeOf(answer)).to.deep.equal({ operation: 'reconcile', reason: 'GetLandscaperContext' });
  });

  for (const [title, given] of [
    ['the webhooks would refuse the item', { spec: { type: '' } }],
    ['the Context is missing', { isContextMissing: true }],
    ['the configuration is missing', { spec: { config: undefined } }],
  ] as const) {
    it(`of a removal is made although ${title}`, async () => {
      expect((await planned({ ...removal, ...given })).answer).to.deep.equal(plan);
    });
  }
});

describe('access that writes nothing', () => {
  it('finds kinds and is closed like the access behind it', async () => {
    const cluster = new FakeCluster();
    const access = withoutWrites(cluster);
    expect((await access.kindOf('v1', 'Secret')).plural).to.equal('secrets');
    await access.close();
    expect(cluster.isClosed).to.equal(true);
  });
});
