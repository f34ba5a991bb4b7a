/** The tenant operator of the documentation: many objects in many namespaces. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  addTenants,
  ResourceQuota,
  tenants,
  type Tenant,
} from '../../../docs/samples/operators/tenant/operator.ts';
import { Namespace, NetworkPolicy, RoleBinding } from '../../../src/runtime/core-kinds.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import {
  read,
  startOperatorCluster,
  startProcess,
  type AnyObj,
  type OperatorCluster,
  type OperatorProcess,
} from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

const folder = join(import.meta.dirname, '../../../docs/samples/operators/tenant');

describe('the tenant operator', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let operator: OperatorProcess;
  let name: string;
  before(async () => {
    cluster = await startOperatorCluster();
    await cluster.install(parseYaml(readFileSync(join(folder, 'tenants.yaml'), 'utf8')) as AnyObj);
  });
  beforeEach(async () => {
    name = `shop-${randomBytes(4).toString('hex')}`;
    operator = await startProcess(cluster, (manager) => void addTenants(manager));
    const { apiVersion, kind, spec } = parseYaml(readFileSync(join(folder, 'tenant.yaml'), 'utf8')) as Tenant;
    const object = { apiVersion, kind, metadata: { name }, spec };
    await cluster.client.send<Tenant>({ verb: 'create', kind: tenants, object });
    await told('dev', 'prod');
  });
  afterEach(async () => {
    await change({ namespaces: [] });
    await told();
    await cluster.client.send({ verb: 'delete', kind: tenants, key: name });
    await operator.stop();
  });
  after(() => cluster?.stop());

  const change = (spec: Partial<Tenant['spec']>) =>
    cluster.client.send({ verb: 'merge', kind: tenants, key: name, body: { spec } });
  const told = (...namespaces: string[]) =>
    eventually(`the tenant has the namespaces ${namespaces.join(', ')}`, async () => {
      const { status } = (await read(cluster, tenants, name)) ?? {};
      const expected = namespaces.map((one) => `${name}-${one}`);
      return JSON.stringify(status?.namespaces) === JSON.stringify(expected);
    });
  const writes = (): readonly string[] => operator.client.writes;

  it('creates each namespace before its contents, and isolates it before members get rights', async () => {
    for (const namespace of [`${name}-dev`, `${name}-prod`]) {
      expect((await read(cluster, ResourceQuota, `${namespace}/tenant`))?.spec?.hard).to.deep.equal({
        pods: '20',
        'requests.cpu': '4',
      });
      const policy = await read(cluster, NetworkPolicy, `${namespace}/tenant`);
      expect(policy?.spec?.ingress?.[0]?.from?.[0]?.namespaceSelector?.matchLabels).to.deep.equal({
        'tenancy.example.org/tenant': name,
      });
      const admins = await read(cluster, RoleBinding, `${namespace}/tenant-admin`);
      expect(admins?.subjects?.map((subject) => subject.name)).to.deep.equal(['ann']);
    }
    const position = (write: string): number => writes().findIndex((one) => one.startsWith(write));
    expect(position(`apply Namespace ${name}-prod`)).to.be.lessThan(position('apply NetworkPolicy'));
    expect(writes().findLastIndex((one) => one.startsWith('apply NetworkPolicy'))).to.be.lessThan(
      position('apply RoleBinding'),
    );
  });

  it('changes only what a changed spec concerns', async () => {
    const before = writes().length;
    await change({ members: [{ user: 'ann', role: 'admin' }] });
    await eventually(
      'bob has no rights',
      async () => !(await read(cluster, RoleBinding, `${name}-dev/tenant-view`)),
    );
    await eventually(
      'nor in the other',
      async () => !(await read(cluster, RoleBinding, `${name}-prod/tenant-view`)),
    );
    // A deletion is repeated if the event of the other one arrives first.
    expect(new Set(writes().slice(before))).to.deep.equal(new Set(['delete RoleBinding tenant-view']));
  });

  it('deletes a namespace that is no longer in the spec, and leaves the other', async () => {
    await change({ namespaces: ['prod'] });
    await told('prod');
    await eventually('the namespace is being deleted', async () => {
      const found = await read(cluster, Namespace, `${name}-dev`);
      return !found || found.metadata.deletionTimestamp !== undefined;
    });
    expect((await read(cluster, Namespace, `${name}-prod`))?.metadata.deletionTimestamp).to.equal(undefined);
  });
});
