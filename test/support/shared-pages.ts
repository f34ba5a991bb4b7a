/** An operator whose replicas share the work, what its users do, and the state in which it must end. */
import { expect } from 'chai';
import { sleep } from '../../src/lib/clock.ts';
import { ConfigMap } from '../../src/runtime/core-kinds.ts';
import { byLabel } from '../../src/runtime/sources/mappers.ts';
import { pollSource } from '../../src/runtime/sources/polling.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { Operator } from '../../src/runtime/operator/start-operator.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import type { ExternalServices, Scenario, TestCluster } from '../../src/testing/index.ts';
import { crdOf, pages, type Page } from './operators.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
export const newPage = (name: string): Page => ({
  apiVersion: 'runtime.test.example/v1',
  kind: 'Page',
  metadata: { name, namespace: 'default' },
  spec: { text: 'one' },
});
const settings = (name: string, value: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `settings-${name}`, namespace: 'default', labels: { page: name } },
  data: { value },
});

/** Accounts outside of the cluster, one for each page. */
class Accounts {
  readonly owners: string[] = [];
  create(owner: string): void {
    this.owners.push(owner);
  }
}

/** Objects of one place, each of which is being reconciled nearly all the time. */
const BUSY_PER_PLACE = 3;
/** Their shards have high numbers, which are the first to be handed over. */
const BUSY_PLACES = ['e', 'n', 'q', 'u'];
const BUSY_MS = 3_000;

/**
 * An operator that always works: a shard that accepted work while it is drained would never be released. After the replicas
 * have started, the users wait for longer than a hand-over may take.
 */
export const busyPages = (replicas: number): Scenario => {
  const state = { isBusy: true };
  const names = BUSY_PLACES.flatMap((place) =>
    Array.from({ length: BUSY_PER_PLACE }, (_, i) => `${place}${String(i)}`),
  );
  return {
    replicas,
    place: ({ metadata }) => metadata.name.slice(0, 1),
    crds: [crdOf(pages)],
    add: (operator) =>
      operator.add<Page>({
        name: 'pages',
        kind: pages,
        reconciler: {
          async reconcile({ metadata }, ctx) {
            if (!state.isBusy) return { write: 'none' };
            // Different times, so that the reconciles of a place do not end together.
            await sleep(ctx.clock, BUSY_MS + 700 * Number(metadata.name.slice(1)), ctx.signal);
            return { write: 'none', requeueAfterMs: 1 };
          },
        },
      }),
    async act(cluster) {
      const { client, random } = cluster;
      for (const name of names) await client.send({ verb: 'create', kind: pages, object: newPage(name) });
      await cluster.advance(random.between(90_000, 120_000));
      state.isBusy = false;
    },
    check: () => undefined,
  };
};

/** A second controller, whose objects have other places than the pages. */
const addSettings = (operator: Operator): void => {
  operator.add<ConfigMap>({
    name: 'settings',
    kind: ConfigMap,
    cache: { labels: 'page' },
    generation: 'off',
    reconciler: {
      async reconcile(map, ctx) {
        const annotations = { seen: map.data?.['value'] ?? '' };
        if (map.metadata.annotations?.['seen'] !== annotations.seen)
          await ctx.write({
            verb: 'merge',
            kind: ConfigMap,
            key: ctx.key,
            body: { metadata: { annotations } },
          });
        return { write: 'none' };
      },
    },
  });
};

/** The status of a page repeats its text, and the settings that a user has written for it. */
const addPages = (
  operator: Operator,
  services: ExternalServices,
  accounts: Accounts,
  everyMs: number,
): void => {
  const maps = operator.caches.of(ConfigMap, { labels: 'page' });
  const known = pollSource<string>({
    name: 'accounts',
    everyMs,
    fetch: async () => {
      const owners = await services.call('list', () => [...accounts.owners]);
      return new Map(owners.map((owner) => [joinKey('default', owner), [owner]]));
    },
  });
  operator.add<Page>({
    name: 'pages',
    kind: pages,
    sources: [watchSource({ cache: maps, toPrimary: byLabel({ name: 'page' }) }), known],
    reconciler: {
      async reconcile(primary, ctx) {
        const { name } = primary.metadata;
        if (ctx.valuesOf('accounts').length === 0) {
          await services.call('create', () => accounts.create(name));
          known.remember(ctx.key, name);
        }
        // Takes a while, so that replicas could overlap.
        await services.call('look', () => undefined);
        const value = ctx.secondary(ConfigMap)?.data?.['value'];
        const status = { text: primary.spec['text'], ...(value !== undefined && { value }) };
        return { write: 'status', object: { ...ctx.draft(), status } };
      },
      async cleanup(_, ctx) {
        await ctx.write({
          verb: 'merge',
          kind: pages,
          key: ctx.key,
          body: { metadata: { labels: { left: 'yes' } } },
        });
        return { finalizer: 'remove' };
      },
    },
  });
};

async function act(cluster: TestCluster): Promise<void> {
  const { client, random } = cluster;
  for (const name of NAMES) await client.send({ verb: 'create', kind: pages, object: newPage(name) });
  for (const name of NAMES)
    await client.send({ verb: 'create', kind: ConfigMap, object: settings(name, '1') });
  for (let round = 0; round < 4; round++) {
    for (const name of random.some(NAMES, 0.5)) {
      const body = { spec: { text: `text ${String(round)}` } };
      await client.send({ verb: 'merge', kind: pages, key: joinKey('default', name), body });
    }
    for (const name of random.some(NAMES, 0.5)) {
      const body = { data: { value: `value ${String(round)}` } };
      await client.send({ verb: 'merge', kind: ConfigMap, key: `default/settings-${name}`, body });
    }
    await cluster.advance(random.between(0, 25_000));
  }
}

async function check(cluster: TestCluster): Promise<void> {
  for (const name of NAMES) {
    const found = await cluster.get(pages, joinKey('default', name));
    const map = await cluster.get(ConfigMap, `default/settings-${name}`);
    expect(map?.metadata.annotations?.['seen'], name).to.equal(map?.data?.['value']);
    expect(found?.status, name).to.deep.equal({ text: found?.spec['text'], value: map?.data?.['value'] });
  }
}

/** @param options.everyMs time between two polls of the accounts */
export const sharedPages = (
  replicas: number,
  { everyMs = 10_000 } = {},
): Scenario & { readonly accounts: Accounts } => {
  const accounts = new Accounts();
  return {
    accounts,
    replicas,
    crds: [crdOf(pages)],
    add: (operator, services) => {
      addPages(operator, services, accounts, everyMs);
      addSettings(operator);
    },
    act,
    check,
    keeps: ({ kind }) => kind === 'ConfigMap',
  };
};
