/** Every namespace gets a Context, and the schema of deploy items has a validation rule. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { Invalid, NotFound } from '../../../src/runtime/errors.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { isRealServer, useCluster } from '../../support/cluster.ts';
import { lonelyItem } from '../../support/landscape.ts';
import { skip } from '../../support/skip.ts';

const repositoryContext = { type: 'OCIRegistry', baseUrl: 'registry.example' };
const name = (): string => `context-${randomBytes(4).toString('hex')}`;
const EXCLUDED = name();

function orGone(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}

describe('the default context', () => {
  const here = useCluster({
    controllers: ['context'],
    deployers: [],
    config: { contexts: { repositoryContext, excludedNamespaces: [EXCLUDED] } },
  });
  const create = async (client: Client, namespace: string): Promise<void> => {
    const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name: namespace } };
    await client.send({ verb: 'create', kind: namespaceKind, object });
  };
  const contextOf = (namespace: string) => here.cluster.world.contexts.get(`${namespace}/default`);

  it('CORE-114: is created with its namespace, names the repository, and keeps what users add', async () => {
    const { client } = here.cluster;
    const namespace = name();
    const scene = await here.scene();
    await create(client, namespace);
    await scene.until('the context', () => contextOf(namespace));
    expect(contextOf(namespace)).to.deep.include({ repositoryContext });

    const body = { registryPullSecrets: [{ name: 'mine' }], repositoryContext: { baseUrl: 'elsewhere' } };
    await client.send({ verb: 'merge', kind: contextKind, key: `${namespace}/default`, body });
    const labels = { touched: 'yes' };
    await client.send({ verb: 'merge', kind: namespaceKind, key: namespace, body: { metadata: { labels } } });
    await scene.until('the repository again', () => {
      const found = contextOf(namespace);
      return found?.repositoryContext?.['baseUrl'] === repositoryContext.baseUrl && found.registryPullSecrets;
    });
    expect(contextOf(namespace)?.registryPullSecrets).to.deep.equal([{ name: 'mine' }]);
  });

  it('CORE-114: is created by a retry after the first attempt was refused, without an event of the namespace', async () => {
    const namespace = name();
    const scene = await here.scene();
    const { faults } = here.controllers;
    faults.arm(namespace, { what: 'server-error', nth: 1 });
    await create(here.cluster.client, namespace);
    await scene.until('the context', () => contextOf(namespace));
    expect(faults.writes(namespace)).to.have.length(2);
  });

  it('CORE-114: is not recreated in a namespace that is being deleted', async () => {
    const { client } = here.cluster;
    const namespace = name();
    const later = name();
    const scene = await here.scene();
    const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name: namespace } };
    const held = { ...object, metadata: { ...object.metadata, finalizers: ['test.example/hold'] } };
    await client.send({ verb: 'create', kind: namespaceKind, object: held });
    await scene.until('the context', () => contextOf(namespace));
    await client.send({ verb: 'delete', kind: namespaceKind, key: namespace });
    const removed = `${namespace}/default`;
    await client.send({ verb: 'delete', kind: contextKind, key: removed }).catch(orGone);
    await scene.until('it is gone', () => contextOf(namespace) === undefined);
    const labels = { touched: 'yes' };
    const writes = here.controllers.faults.writes(namespace).length;
    await client.send({ verb: 'merge', kind: namespaceKind, key: namespace, body: { metadata: { labels } } });
    await create(client, later);
    await scene.until('the context of a later namespace', () => contextOf(later));
    expect(here.controllers.faults.writes(namespace)).to.have.length(writes);
    expect(contextOf(namespace)).to.equal(undefined);
    const body = { metadata: { finalizers: null } };
    await client.send({ verb: 'merge', kind: namespaceKind, key: namespace, body });
  });

  it('CORE-114: is not created in an excluded namespace', async () => {
    const { client } = here.cluster;
    const later = name();
    const scene = await here.scene();
    await create(client, EXCLUDED);
    await create(client, later);
    await scene.until('the context of a later namespace', () => contextOf(later));
    expect(contextOf(EXCLUDED)).to.equal(undefined);
  });
});

describe('the schema', () => {
  const here = useCluster({ controllers: [], deployers: [] });

  it('CORE-118: rejects a change of the type of a deploy item, with or without the webhook', async function () {
    if (!isRealServer()) skip(this, 'the embedded server does not evaluate rules');
    const scene = await here.scene();
    await scene.create(lonelyItem());
    const change = scene.patch(deployItemKind, 'lonely', { spec: { type: 'test.example/other' } });
    const error: unknown = await change.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Invalid);
    expect(String(error)).to.contain('spec.type: Forbidden: type is immutable');
  });
});
