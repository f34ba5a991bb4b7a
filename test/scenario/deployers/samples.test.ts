/** The deployers of the documentation, used as readers use them. */
import { expect } from 'chai';
import { httpDeployer } from '../../../docs/samples/deployers/http/deployer.ts';
import { plugin as skeleton } from '../../../docs/samples/deployers/skeleton/deployer.ts';
import { startDeployer } from '../../../deployers/sdk/index.ts';
import { checkDeployer, type Subject } from '../../../deployers/testing/index.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import { failures, PATIENCE_MS as patienceMs } from '../../support/conformance.ts';
import { startDocumentStore } from '../../support/document-store.ts';

const config = (group: string, fields: object): Readonly<Record<string, unknown>> => ({
  apiVersion: group,
  kind: 'ProviderConfiguration',
  ...fields,
});

describe('deployers of the documentation', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  it('the skeleton passes the conformance suite', async () => {
    const { kubeconfig } = cluster;
    const of = (fields: object) => config('skeleton.example.org/v1', fields);
    const deployer = await startDeployer(skeleton, { kubeconfig: { text: kubeconfig } });
    const greeting = 'hello';
    const results = await checkDeployer(
      {
        type: skeleton.type,
        succeeds: of({ greeting }),
        exports: { config: of({ greeting }), value: { greeting } },
        waits: of({ greeting, ready: false }),
        finish: of({ greeting }),
        invalid: of({ greeting: 5 }),
      },
      { kubeconfig, patienceMs },
    );
    await deployer.stop();
    expect(failures(results)).to.deep.equal([]);
  });

  it('the one for documents on a web server passes it, and leaves nothing behind', async () => {
    const { kubeconfig } = cluster;
    const store = await startDocumentStore();
    const of = (fields: object) => config('http.example.org/v1', { path: '/$ITEM', ...fields });
    const subject: Subject = {
      type: httpDeployer.type,
      target: { type: 'example.org/web-server', config: { endpoint: store.url } },
      succeeds: of({ document: 1 }),
      exports: { config: of({ document: { a: 1 }, exportAs: 'tag' }), value: { tag: '"7"' } },
      waits: of({ document: { slow: true } }),
      finish: of({ document: 2 }),
      invalid: of({ path: 'no-slash' }),
    };
    const deployer = await startDeployer(httpDeployer, { kubeconfig: { text: kubeconfig } });
    try {
      expect(failures(await checkDeployer(subject, { kubeconfig, patienceMs }))).to.deep.equal([]);
      store.documents.clear();
      const more = await checkDeployer(subject, { kubeconfig, patienceMs, only: ['delete'] });
      expect(failures(more)).to.deep.equal([]);
      expect([...store.documents.keys()]).to.not.be.empty.and.not.include('/item-1');
    } finally {
      await deployer.stop();
      store.stop();
    }
  });
});
