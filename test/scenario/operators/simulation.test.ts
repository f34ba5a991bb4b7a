/** The test kit for operators: it finds faulty operators, reproduces what it found, and accepts correct ones. */
import { expect } from 'chai';
import {
  hello,
  webPageOperator,
  webPageScenario,
} from '../../../docs/samples/operators/webpage/simulation.ts';
import { webPages } from '../../../docs/samples/operators/webpage/operator.ts';
import { ConfigMap, Deployment, Namespace, StatefulSet } from '../../../src/runtime/core-kinds.ts';
import { NoSuchKind } from '../../../src/runtime/errors.ts';
import type { Operator } from '../../../src/runtime/operator/start-operator.ts';
import { requireKinds } from '../../../src/runtime/transport/require-kinds.ts';
import type { Context, View } from '../../../src/runtime/types.ts';
import {
  simulate,
  SimulationFailure,
  startTestCluster,
  type ExternalServices,
  type OperatorUnderTest,
  type Scenario,
  type TestCluster,
} from '../../../src/testing/index.ts';
import { crdOf, pages, type Page } from '../../support/operators.ts';

const KEY = 'default/p';
const page: Page = {
  apiVersion: 'runtime.test.example/v1',
  kind: 'Page',
  metadata: { name: 'p', namespace: 'default' },
  spec: { text: 'one' },
};

/** A service outside of the cluster that assigns ids. */
class Accounts {
  readonly owners = new Map<string, string>();
  create(owner: string): string {
    const id = `id-${String(this.owners.size + 1)}`;
    this.owners.set(id, owner);
    return id;
  }
  find(owner: string): string | undefined {
    return [...this.owners].find(([, each]) => each === owner)?.[0];
  }
}

type Reconcile = (page: View<Page>, ctx: Context<Page>, services: ExternalServices) => Promise<Page>;

/** A user creates a page and changes it once. */
const scenario = (
  reconcile: Reconcile,
  check: (cluster: TestCluster) => void | Promise<void> = () => undefined,
): Scenario => ({
  crds: [crdOf(pages)],
  add: (operator: Operator, services: ExternalServices) =>
    operator.add<Page>({
      name: 'pages',
      kind: pages,
      reconciler: {
        async reconcile(primary, ctx) {
          return { write: 'status', object: await reconcile(primary, ctx, services) };
        },
      },
    }),
  async act(cluster) {
    await cluster.client.send({ verb: 'create', kind: pages, object: page });
    await cluster.advance(cluster.random.between(0, 5_000));
    const body = { spec: { text: 'two' } };
    await cluster.client.send({ verb: 'merge', kind: pages, key: KEY, body });
  },
  check,
});

const failureOf = async (work: Promise<unknown>): Promise<SimulationFailure> => {
  const error: unknown = await work.catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(SimulationFailure);
  return error as SimulationFailure;
};

describe('the simulation of operators', function () {
  this.timeout(120_000);

  it('accepts the sample of web pages', async () => {
    expect(await simulate(webPageScenario, { seeds: 20 })).to.be.greaterThan(1_000);
  });

  it('does the same twice with the same seed', async () => {
    const traces = [[], []] as [string[], string[]];
    for (const trace of traces)
      await simulate(webPageScenario, { seed: 7, onLine: (line) => trace.push(line) });
    expect(traces[0].length).to.be.greaterThan(100);
    expect(traces[1]).to.deep.equal(traces[0]);
  });

  it('finds an operator that creates an external resource twice after a crash, and the seed reproduces it', async () => {
    const faulty = (): Scenario => {
      const accounts = new Accounts();
      return scenario(
        async ({ metadata, status }, ctx, services) => {
          const id = status?.['id'] ?? (await services.call('create', () => accounts.create(metadata.name)));
          return { ...ctx.draft(), status: { id } };
        },
        () => {
          if (accounts.owners.size !== 1) throw new Error(`${String(accounts.owners.size)} accounts`);
        },
      );
    };
    const found = await failureOf(simulate(faulty, { seeds: 60 }));
    expect(found.message).to.match(/^seed \d+ failed: [2-9] accounts\n/);
    expect(found.message).to.include(`replay it with { seed: ${String(found.seed)} }`);
    const again = await failureOf(simulate(faulty, { seed: found.seed }));
    expect(again.message).to.equal(found.message);
  });

  it('accepts it if it searches for the resource first', async () => {
    const correct = (): Scenario => {
      const accounts = new Accounts();
      return scenario(
        async ({ metadata: { name } }, ctx, services) => {
          const found = await services.call('find', () => accounts.find(name));
          const id = found ?? (await services.call('create', () => accounts.create(name)));
          return { ...ctx.draft(), status: { id } };
        },
        () => void expect(accounts.owners.size).to.equal(1),
      );
    };
    await simulate(correct, { seeds: 60 });
  });

  const child = (owner?: View<Page>): ConfigMap => {
    const { name = '', uid = '' } = owner?.metadata ?? {};
    const ownerReferences = [{ apiVersion: page.apiVersion, kind: page.kind, name, uid }];
    const metadata = { name: 'child', namespace: 'default', ...(owner && { ownerReferences }) };
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} };
  };
  const applied = (ctx: Context<Page>, object: ConfigMap) =>
    ctx.write<ConfigMap>({ verb: 'apply', kind: ConfigMap, object, manager: 'pages', force: true });
  const without = { 'every write changes something': 'it applies its objects after each restart' };

  const faulty: readonly {
    readonly what: string;
    readonly reconcile: Reconcile;
    readonly law: string;
    readonly without?: Scenario['without'];
  }[] = [
    {
      what: 'writes the time of each reconcile',
      reconcile: (_, ctx) =>
        Promise.resolve({ ...ctx.draft(), status: { at: new Date(ctx.clock.wall()).toISOString() } }),
      law: 'a restart writes nothing',
    },
    {
      what: 'changes an object of the cache',
      reconcile: (primary, ctx) => {
        (primary.spec as Record<string, unknown>)['text'] = 'mine';
        return Promise.resolve(ctx.draft());
      },
      law: 'no programming error occurs',
    },
    {
      what: 'leaves an object without owner behind',
      reconcile: async (_, ctx) => {
        await applied(ctx, child());
        return ctx.draft();
      },
      law: 'a deletion leaves nothing',
      without,
    },
    {
      what: 'writes what is already there',
      reconcile: async (primary, ctx) => {
        await applied(ctx, child(primary));
        return ctx.draft();
      },
      law: 'every write changes something',
    },
    {
      what: 'sets timers without a delay',
      reconcile: (_, ctx) => {
        const again = (): void => void ctx.clock.at(ctx.clock.now(), again);
        again();
        return Promise.resolve(ctx.draft());
      },
      law: 'time passes',
    },
  ];
  for (const { what, reconcile, law, without: reasons = {} } of faulty)
    it(`finds an operator that ${what}`, async () => {
      const found = await failureOf(
        simulate(() => ({ ...scenario(reconcile), without: reasons }), { seeds: 5 }),
      );
      expect(found.law).to.equal(law);
    });

  it('finds an operator that ignores the failure of a deletion, because requests fail during deletions as well', async () => {
    const careless = (): Scenario => ({
      ...scenario(() => Promise.reject(new Error('unused'))),
      without,
      add: (operator) =>
        operator.add<Page>({
          name: 'pages',
          kind: pages,
          reconciler: {
            async reconcile(_, ctx) {
              await applied(ctx, child());
              return { write: 'none' };
            },
            async cleanup(_, ctx) {
              await ctx
                .write({ verb: 'delete', kind: ConfigMap, key: 'default/child' })
                .catch(() => undefined);
              return { finalizer: 'remove' };
            },
          },
        }),
    });
    const found = await failureOf(simulate(careless, { seeds: 60 }));
    expect(found.law).to.equal('a deletion leaves nothing');
    expect(found.message).to.contain('ConfigMap default/child');
  });

  it('shows the lines that the operator logs, with their fields', async () => {
    const lines: string[] = [];
    const logging = scenario((primary, ctx) => {
      ctx.log.info({ text: primary.spec['text'] }, 'looking at the page');
      return Promise.resolve(ctx.draft());
    });
    await simulate(() => logging, { seed: 1, onLine: (line) => lines.push(line) });
    const logged = lines.filter((line) => line.includes('looking at the page'));
    expect(logged[0]).to.match(/ operator#1 pages default\/p info: looking at the page text="one"$/);
  });

  it('finds an operator that never settles', async () => {
    let count = 0;
    const restless = (): Scenario => ({
      ...scenario(() => Promise.reject(new Error('unused'))),
      add: (operator) =>
        operator.add<Page>({
          name: 'pages',
          kind: pages,
          reconciler: {
            reconcile: (_, ctx) =>
              Promise.resolve({
                write: 'status',
                object: { ...ctx.draft(), status: { count: ++count } },
                requeueAfterMs: 30_000,
              }),
          },
        }),
    });
    expect((await failureOf(simulate(restless, { seeds: 1 }))).law).to.equal('the operator settles');
  });

  it('checks the laws of the author after every change, and leaves out those that do not apply', async () => {
    const counting = scenario((primary, ctx) =>
      Promise.resolve({ ...ctx.draft(), status: { text: primary.spec['text'] } }),
    );
    const law = {
      name: 'a status never goes back',
      broken: ({ object }: { object: unknown }) =>
        (object as Page).status?.['text'] === 'two' ? 'it is two' : undefined,
    };
    const found = await failureOf(simulate(() => ({ ...counting, laws: [law] }), { seeds: 1 }));
    expect([found.law, found.message.split('\n')[0]]).to.deep.equal([
      law.name,
      `seed 1 broke "${law.name}": it is two`,
    ]);
    const heartbeat = scenario((_, ctx) =>
      Promise.resolve({ ...ctx.draft(), status: { at: ctx.clock.wall() } }),
    );
    const without = { 'a restart writes nothing': 'the status has the time of the last reconcile' };
    await simulate(() => ({ ...heartbeat, without }), { seeds: 3 });
  });
});

describe('a test cluster', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await startTestCluster(webPageOperator);
  });
  afterEach(() => cluster.close());

  const isReady = async (): Promise<boolean | undefined> =>
    (await cluster.get(webPages, 'default/hello'))?.status?.ready;
  const create = (html = '<html>hello</html>') =>
    cluster.client.send({ verb: 'create', kind: webPages, object: hello({ html }) });

  it('runs the operator in virtual time, with workloads that become ready', async () => {
    await create();
    await cluster.until('the page is ready', isReady);
    expect(cluster.clock.now()).to.be.greaterThan(0);
    expect(cluster.writes).to.include('apply Deployment default/hello');
    expect((await cluster.get(Deployment, 'default/hello'))?.status?.availableReplicas).to.equal(1);
  });

  it('validates objects with the schema of the CRD', async () => {
    const refused: unknown = await create(1 as never).catch((error: unknown) => error);
    expect(String(refused)).to.match(/spec\.html.*must be of type string/);
  });

  for (const fault of ['conflict', 'tooMany', 'serverError', 'reset', 'lost', 'late'] as const)
    it(`lets a request fail with ${fault}, and the operator recovers`, async () => {
      const armed = cluster.failNext(fault, { verb: 'apply', kind: 'Service' });
      await create();
      await cluster.settle();
      expect([armed.isInjected, await isReady()]).to.deep.equal([true, true]);
    });

  for (const fault of ['crashBefore', 'crashAfter'] as const)
    it(`kills the operator between two writes: ${fault}`, async () => {
      cluster.failNext(fault, { verb: 'apply', kind: 'ConfigMap' });
      await create();
      await cluster.advance(2_000);
      expect(cluster.writes).to.deep.equal(['apply ConfigMap default/hello']);
      expect((await cluster.get(ConfigMap, 'default/hello')) !== undefined).to.equal(fault === 'crashAfter');
      await cluster.settle();
      expect(await isReady()).to.equal(true);
    });

  it('breaks and stalls watches', async () => {
    await cluster.settle();
    cluster.stallWatches('WebPage', 20_000);
    await create();
    await cluster.advance(15_000);
    expect(cluster.writes).to.deep.equal([]);
    cluster.cutWatches();
    await cluster.settle();
    expect(await isReady()).to.equal(true);
  });

  describe('with an operator of its own', () => {
    const other: Page = { ...page, metadata: { name: 'q', namespace: 'other' } };
    const open = async (reconcile: Reconcile, more: Partial<OperatorUnderTest> = {}) => {
      await cluster.close();
      cluster = await startTestCluster({ ...scenario(reconcile), ...more });
      await cluster.client.send({ verb: 'create', kind: pages, object: page });
    };

    it('stops the process like SIGTERM: an active reconcile ends first', async () => {
      const ends: string[] = [];
      await open(async (_page, ctx) => {
        await new Promise<void>((resolve) => ctx.clock.at(ctx.clock.now() + 2_000, resolve));
        ends.push(ctx.key);
        return { ...ctx.draft(), status: { ends: ends.length } };
      });
      await cluster.advance(1_000);
      cluster.stop();
      await cluster.advance(2_000);
      expect((await cluster.get(pages, KEY))?.status).to.deep.equal({ ends: 1 });
      await cluster.settle();
      expect(ends).to.have.length(2);
    });

    it('restricts its caches to namespaces', async () => {
      const seen: (string | undefined)[] = [];
      await open(
        async ({ metadata }, ctx) => {
          seen.push(metadata.namespace);
          return ctx.draft();
        },
        { namespaces: ['other'] },
      );
      const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name: 'other' } };
      await cluster.client.send({ verb: 'create', kind: Namespace, object });
      await cluster.client.send({ verb: 'create', kind: pages, object: other });
      await cluster.settle();
      expect(seen).to.deep.equal(['other']);
    });

    it('answers to discovery', async () => {
      let error: unknown;
      const reader = await startTestCluster({
        crds: [crdOf(pages)],
        async add({ client }) {
          await requireKinds(client, [pages, Namespace], 'none');
          const missing = { ...pages, kind: 'Missing' };
          error = await requireKinds(client, [missing], 'kubectl apply').catch((reason: unknown) => reason);
        },
      });
      try {
        await reader.until('the kinds were read', () => error !== undefined);
        expect(error).to.be.instanceOf(NoSuchKind);
      } finally {
        await reader.close();
      }
    });
  });

  it('says what did not happen, and the last error of the operator', async () => {
    for (let i = 0; i < 20; i++) cluster.failNext('serverError', { verb: 'apply', kind: 'Service' });
    await create();
    const late: unknown = await cluster
      .until('the page is ready', isReady, 60_000)
      .catch((error: unknown) => error);
    expect(String(late)).to.match(/the page is ready: not within 60 s\n/);
    expect(String(late)).to.match(/the last error of a reconcile: webpages default\/hello: .*service/);
  });

  it('says that the schema refuses a status', async () => {
    await cluster.close();
    const status = { ready: 'yes' as never };
    cluster = await startTestCluster({
      ...webPageOperator,
      add: (operator) =>
        operator.add({
          name: 'pages',
          kind: webPages,
          reconciler: {
            reconcile: (_page, ctx) =>
              Promise.resolve({ write: 'status', object: { ...ctx.draft(), status } }),
          },
        }),
    });
    await create();
    const late: unknown = await cluster.until('it is ready', isReady, 60_000).catch((e: unknown) => e);
    expect(String(late)).to.match(/the last error of a reconcile: pages default\/hello: .*status\.ready/);
  });

  it('says why a workload has no pods', async () => {
    const labels = { app: 'db' };
    const spec = {
      serviceName: 'db',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db' }] } },
    };
    // Too long for the label with the name of its pods.
    const metadata = { name: 'd'.repeat(62), namespace: 'default' };
    const object = { apiVersion: 'apps/v1', kind: 'StatefulSet' as const, metadata, spec };
    await cluster.client.send({ verb: 'create', kind: StatefulSet, object });
    const late: unknown = await cluster.until('it is ready', () => false, 60_000).catch((e: unknown) => e);
    expect(String(late)).to.match(
      /the last error of a simulated workload: StatefulSet default\/d+ cannot create a Pod: .*63/,
    );
  });

  it('refuses files that contain other objects', async () => {
    const crds = [new URL('../../../docs/samples/operators/webpage/webpage.yaml', import.meta.url)];
    const error: unknown = await startTestCluster({ ...webPageOperator, crds }).catch((e: unknown) => e);
    expect(String(error)).to.match(
      /webpage\.yaml contains a WebPage; `crds` takes CustomResourceDefinitions only/,
    );
  });
});
