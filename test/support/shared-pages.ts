/** An operator whose replicas share the work, what its users do, and the state in which it must end. */
import { expect } from 'chai';
import { ConfigMap } from '../../src/runtime/core-kinds.ts';
import { byLabel } from '../../src/runtime/sources/mappers.ts';
import { pollSource } from '../../src/runtime/sources/polling.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { Operator } from '../../src/runtime/operator/start-operator.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import type { Outside, Scenario, TestCluster } from '../../src/testing/index.ts';
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
const addPages = (operator: Operator, outside: Outside, accounts: Accounts, everyMs: number): void => {
  const maps = operator.caches.of(ConfigMap, { labels: 'page' });
  const known = pollSource<string>({
    name: 'accounts',
    everyMs,
    fetch: async () => {
      const owners = await outside.call('list', () => [...accounts.owners]);
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
          await outside.call('create', () => accounts.create(name));
          known.remember(ctx.key, name);
        }
        // Takes a while, so that replicas could overlap.
        await outside.call('look', () => undefined);
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
    add: (operator, outside) => {
      addPages(operator, outside, accounts, everyMs);
      addSettings(operator);
    },
    act,
    check,
    keeps: ({ kind }) => kind === 'ConfigMap',
  };
};
