/** The order of objects of which one needs the other. */
import { expect } from 'chai';
import { putAll } from '../../../../deployers/container/host-objects.ts';
import { accountWith } from '../../../../deployers/container/accounts.ts';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { Bench, configMap, manage, manifestConfig } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const named = (apiVersion: string, kind: string, name: string): object => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'app' },
});

/** Like an API server: a binding is refused before its role exists, and answers come late. */
function strict(cluster: FakeCluster): void {
  cluster.fail = (verb, what) => {
    const [kind, key = ''] = what.split(' ');
    if (verb === 'get' || kind !== 'RoleBinding' || cluster.find('Role', key)) return;
    throw apiErrorFrom(404, { message: `roles "${key}" not found` }, { verb, kind });
  };
}

describe('objects of which one needs the other', () => {
  it('are written one after the other by the manifest deployer, in any order of the manifests', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    strict(b.target);
    const manifests = [
      named(RBAC, 'RoleBinding', 'bot'),
      configMap('settings'),
      named(RBAC, 'Role', 'bot'),
      named('v1', 'ServiceAccount', 'bot'),
    ];
    b.giveItem(manifestConfig({ manifests: manifests.map((one) => manage(one)) }));
    await b.kick('j1');
    expect(b.status().phase, b.status().lastError?.message).to.equal('Succeeded');
    const created = b.target.takeRequests().filter((request) => request.startsWith('create'));
    expect(created.slice(0, 2)).to.have.members(['create Role app/bot', 'create ServiceAccount app/bot']);
    expect(b.status().firstError).to.equal(undefined);
  });

  it('are written one after the other by the container deployer', async () => {
    const cluster = new FakeCluster('app');
    strict(cluster);
    const item = { name: 'job', namespace: 'proj' };
    const owner = { item, namespace: 'app', deployerId: 'bench' };
    const wanted = accountWith(owner, 'bot', []).toReversed();
    await putAll({ client: cluster, namespace: 'app' }, item, wanted);
    expect(cluster.names('RoleBinding')).to.have.length(1);
  });
});
