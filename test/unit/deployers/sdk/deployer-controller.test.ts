/** How a plug-in becomes a controller: what it watches, what it remembers of many items, which clients it closes. */
import { expect } from 'chai';
import { deployerController, targetReaderOf } from '../../../../deployers/sdk/controller.ts';
import { wait, type DeployerPlugin } from '../../../../deployers/sdk/index.ts';
import type { Target } from '../../../../deployers/sdk/kinds.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { Caches, View } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { Bench, kubeconfigOf } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';
import { NAME, pluginOf, TYPE, type PluginBench } from '../plugin-bench.ts';

const caches = {
  of: (kind: object) => ({
    kind,
    name: 'cache',
    index: () => undefined,
    byIndex: () => [],
    get: () => undefined,
  }),
} as unknown as Caches;
const specOf = (plugin: Partial<DeployerPlugin> = {}) =>
  deployerController(
    pluginOf({ plugin }, () => ({}) as PluginBench),
    {
      client: new FakeCluster(),
      caches,
      rng: seededRng(1),
      log: silentLogger,
      clock: new FakeClock('2026-01-01T00:00:00Z'),
    },
  );

describe('the controller of a plug-in', () => {
  it('leaves finalizers, generations and defaults of items to the worker, and retries fast', () => {
    expect(specOf()).to.deep.include({
      name: NAME,
      finalizer: { handledBy: 'reconciler' },
      generation: 'off',
      defaults: false,
      retry: 'fast',
    });
  });

  it('watches what the plug-in wants to watch, and nothing else', () => {
    expect(specOf().sources).to.deep.equal([]);
    const cache = caches.of({ kind: 'ConfigMap' } as never);
    const toItems = () => ['demo/web'];
    const sources = specOf({ watches: () => [{ cache, toItems }] }).sources ?? [];
    expect(sources.map((source) => source.cache)).to.deep.equal([cache]);
  });
});

describe('what is remembered of many items', () => {
  it('is dropped only for items whose jobs ended or that are gone', async () => {
    const looks = new Map<string, unknown[]>();
    const plugin: DeployerPlugin = pluginOf(
      {
        plugin: {
          apply: ({ item, scratch }) => {
            const { name } = item.metadata;
            const before = scratch.get('n');
            scratch.set('n', true);
            looks.set(name, [...(looks.get(name) ?? []), before]);
            return Promise.resolve(wait({ requeueAfterMs: 60_000 }));
          },
        },
      },
      () => ({}) as PluginBench,
    );
    const b = new Bench(plugin);
    const names = Array.from({ length: 130 }, (_, i) => `item-${String(i)}`);
    for (const name of names.slice(0, 64)) {
      b.giveItem({}, { name, type: TYPE, target: null, timeout: '1h' });
      await b.kick('j1', name);
    }
    b.host.drop('DeployItem', 'proj/item-0');
    b.host.edit('DeployItem', 'proj/item-1', { status: { phase: 'Failed', jobIDFinished: 'j1' } });
    for (const name of names.slice(64)) {
      b.giveItem({}, { name, type: TYPE, target: null, timeout: '1h' });
      await b.kick('j1', name);
    }
    b.host.edit('DeployItem', 'proj/item-1', { status: { phase: 'Progressing', jobIDFinished: null } });
    await b.pass(60_000);
    expect(b.events).to.deep.equal([]);
    expect(looks.get('item-0')).to.deep.equal([undefined]);
    expect(looks.get('item-1')).to.deep.equal([undefined, undefined, true]);
    for (const name of names.slice(2)) expect(looks.get(name), name).to.deep.equal([undefined, true]);
  });
});

describe('the reader of targets', () => {
  it('closes its clients when the process ends', async () => {
    const life = new AbortController();
    const cluster = new FakeCluster();
    const reader = targetReaderOf({
      client: new FakeCluster(),
      clock: new FakeClock(),
      rng: seededRng(1),
      log: silentLogger,
      signal: life.signal,
      connect: () => Promise.resolve(cluster),
    });
    const target = {
      metadata: { name: 'a', namespace: 'demo' },
      spec: { type: 'x/y', config: { kubeconfig: kubeconfigOf('a') } },
    } as unknown as View<Target>;
    await (await reader.resolve(target, life.signal)).kube();
    expect(cluster.isClosed).to.equal(false);
    life.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(cluster.isClosed).to.equal(true);
  });
});
