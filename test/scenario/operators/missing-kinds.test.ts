/** Controllers whose kind is missing, comes and goes while the others work. */
import { expect } from 'chai';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { startTestCluster, type TestCluster } from '../../../src/testing/index.ts';
import { crdOf, kindOfTest, pages, type AnyObj, type Page } from '../../support/operators.ts';

const others = kindOfTest('late.test.example', 'Other') as unknown as Kind<Page>;
const definitions = CustomResourceDefinition as Kind as Kind<AnyObj>;

describe('a controller whose kind is missing', () => {
  let cluster: TestCluster;
  let reconciled: string[];
  beforeEach(async () => {
    reconciled = [];
    cluster = await startTestCluster({
      crds: [crdOf(pages)],
      unreadable: 'skip',
      add(operator) {
        for (const kind of [pages, others])
          operator.add<Page>({
            name: kind.plural,
            kind,
            reconciler: {
              reconcile(primary) {
                reconciled.push(`${primary.kind} ${primary.metadata.name}`);
                return Promise.resolve({ write: 'none' });
              },
            },
          });
      },
    });
  });
  afterEach(() => cluster.close());

  const create = (kind: Kind<Page>, name: string) =>
    cluster.client.send({
      verb: 'create',
      kind,
      object: {
        apiVersion: `${kind.group}/v1`,
        kind: kind.kind,
        metadata: { name, namespace: 'default' },
        spec: {},
      },
    });
  const install = () =>
    cluster.client.send<Obj>({ verb: 'create', kind: definitions, object: crdOf(others) });

  it('does not keep the others from starting, starts when it comes, rests when it goes, and starts again', async () => {
    await create(pages, 'one');
    await cluster.until('the other controller works', () => reconciled.includes('Page one'));
    expect(cluster.notReady).to.match(/^others\.late\.test\.example is not synced/);

    await install();
    await create(others, 'a');
    await cluster.until('it has started', () => reconciled.includes('Other a'));
    await cluster.until('all is ready', () => cluster.notReady === undefined);

    const name = 'others.late.test.example';
    await cluster.client.send({ verb: 'delete', kind: definitions, key: name });
    await cluster.until('readiness names it', () => cluster.notReady?.includes(name));
    await create(pages, 'two');
    await cluster.until('the other controller works', () => reconciled.includes('Page two'));
    await cluster.advance(600_000);
    expect(reconciled.filter((each) => each.startsWith('Other'))).to.deep.equal(['Other a']);

    await install();
    await create(others, 'b');
    await cluster.until('it works again', () => reconciled.includes('Other b'));
    await cluster.until('all is ready', () => cluster.notReady === undefined);
  });
});
