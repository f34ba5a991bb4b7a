/** The digest operator of the documentation: a bounded cache. */
import { expect } from 'chai';
import { addDigests, digests } from '../../../docs/samples/operators/digest/digests.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { startTestCluster, type TestCluster } from '../../../src/testing/index.ts';
import { crdOf } from '../../support/operators.ts';

const key = 'default/one';

describe('the digest operator', function () {
  this.timeout(60_000);
  let cluster: TestCluster;
  afterEach(() => cluster?.close());

  it('follows the ConfigMap that it reads on demand', async () => {
    cluster = await startTestCluster({ crds: [crdOf(digests)], add: (manager) => addDigests(manager) });
    const { client } = cluster;
    const metadata = { name: 'one', namespace: 'default' };
    await client.send({
      verb: 'create',
      kind: ConfigMap,
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'hello' } },
    });
    await client.send({
      verb: 'create',
      kind: digests,
      object: { apiVersion: 'digest.example.org/v1', kind: 'Digest', metadata },
    });
    const has = (characters: number) =>
      cluster.until(`there are ${String(characters)} characters`, async () => {
        return (await cluster.get(digests, key))?.status?.characters === characters;
      });
    await has(5);
    await client.send({ verb: 'merge', kind: ConfigMap, key, body: { data: { text: 'hello world' } } });
    await has(11);
    await client.send({ verb: 'delete', kind: ConfigMap, key });
    await has(0);
    expect(cluster.writes).to.have.length(3);
  });
});
