/** The label that skips validation, on an API server that checks rights, with users who are no administrators. */
import { expect } from 'chai';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { GROUP, labels } from '../../../src/api/labels.ts';
import { loadCrds } from '../../../src/api/crds.ts';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  crdKind,
  roleBindingKind,
  roleKind,
  serviceAccountKind,
} from '../../../src/cli/commands/install/kinds.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import type { Skipping } from '../../../src/webhooks/configuration.ts';
import type { Webhooks } from '../../../src/webhooks/index.ts';
import { target } from '../../support/broken.ts';
import { freePort } from '../../support/ports.ts';
import { kubeconfigOfAccount, startStrictServer, type StrictServer } from '../../support/rights.ts';
import { eventually } from '../../support/waiting.ts';
import { forgetWebhooks, objection, serveWebhooks } from '../../support/webhooks.ts';

const NS = 'shop';
const RBAC = 'rbac.authorization.k8s.io';

describe('the label that skips validation', function () {
  this.timeout(60_000);
  let server: StrictServer;
  let admin: Client;
  let hooks: Client;
  let tenant: Client;
  let maintainer: Client;
  let running: Webhooks | undefined;

  const clientOf = async (text: string): Promise<Client> =>
    createClient(await connect({ kubeconfig: { text }, userAgent: 'test', clock, log }));
  const create = (kind: Kind, object: object): Promise<Obj> =>
    admin.send({ verb: 'create', kind, object: object as Obj });
  const named = (kind: string, name: string, namespace?: string): Obj => ({
    apiVersion: kind === 'ServiceAccount' ? 'v1' : `${RBAC}/v1`,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
  });
  /** A client of an account with these rights on targets. */
  async function userWith(name: string, verbs: readonly string[]): Promise<Client> {
    await create(serviceAccountKind, named('ServiceAccount', name, NS));
    const rules = [{ apiGroups: [GROUP], resources: ['targets'], verbs }];
    await create(roleKind, { ...named('Role', name, NS), rules });
    await create(roleBindingKind, {
      ...named('RoleBinding', name, NS),
      roleRef: { apiGroup: RBAC, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: NS }],
    });
    return clientOf(await kubeconfigOfAccount(admin, server.kubeconfig, { namespace: NS, name }));
  }

  before(async () => {
    server = await startStrictServer();
    admin = await clientOf(server.kubeconfig);
    await applyAll(admin, [namespaceObject(NS)]);
    for (const object of loadCrds()) await create(crdKind, object);
    tenant = await userWith('tenant', ['get', 'create', 'update', 'patch']);
    maintainer = await userWith('maintainer', ['create', 'patch', 'skip-validation']);
    // The account of the webhooks, which gets this right in the first test.
    hooks = await userWith('hooks', ['get']);
    const rules = [
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ];
    await create(clusterRoleKind, { ...named('ClusterRole', 'hooks'), rules });
  });
  after(async () => {
    for (const client of [admin, hooks, tenant, maintainer]) await client?.close();
    await server?.close();
  });
  afterEach(async () => {
    await forgetWebhooks(admin);
    await running?.close();
    running = undefined;
  });

  const label = (text = 'true') => ({ [labels.skipValidation]: text });
  const object = (name: string, more: object = {}): Obj => {
    const both = target(name, { config: 1, secretRef: { name: 's' } });
    return { ...both, metadata: { ...both.metadata, namespace: NS, ...more } };
  };
  const denial = async (client: Client, what: Obj): Promise<string | undefined> =>
    (await objection(client, 'targets', what))?.message;

  /** The server has an administrator's rights for its objects, and those of its own account for reviews. */
  async function serve(skipping: Skipping = 'admins'): Promise<void> {
    const client: Client = { ...admin, raw: hooks.raw.bind(hooks) };
    for (const name of ['get', 'list', 'watch', 'send'] as const)
      Object.assign(client, { [name]: admin[name].bind(admin) });
    running = await serveWebhooks({ client, namespace: NS, port: await freePort(), skipping });
    await eventually('the webhooks are asked', () => denial(tenant, object('invalid')));
  }

  it('is refused if the webhooks cannot find out whether it has an effect, until they have the permission', async () => {
    await serve();
    const message = await denial(tenant, object('a', { labels: label() }));
    expect(message).to.contain(
      `cannot determine whether user "system:serviceaccount:${NS}:tenant" may use the label`,
    );
    expect(message).to.contain('permission to create subjectaccessreviews.authorization.k8s.io');
    expect(await denial(admin, object('b', { labels: label() }))).to.equal(undefined);
    await create(clusterRoleBindingKind, {
      ...named('ClusterRoleBinding', 'hooks'),
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'hooks' },
      subjects: [{ kind: 'ServiceAccount', name: 'hooks', namespace: NS }],
    });
    expect(await denial(maintainer, object('c', { labels: label() }))).to.equal(undefined);
  });

  it('has an effect only for users with the verb, and what others change later is validated', async () => {
    await serve();
    expect(await denial(maintainer, object('a'))).to.contain('not both');
    expect(await denial(maintainer, object('a', { labels: label() }))).to.equal(undefined);
    expect(await denial(tenant, object('a', { labels: label() }))).to.contain(
      `permission for the verb skip-validation on targets.${GROUP} in namespace "${NS}", which user "system:serviceaccount:${NS}:tenant" does not have`,
    );
    await maintainer.send({
      verb: 'create',
      kind: targetKind,
      object: object('kept', { labels: label() }) as never,
    });
    const patch = (client: Client, body: object): Promise<string> =>
      client.send({ verb: 'merge', kind: targetKind, key: `${NS}/kept`, body }).then(
        () => '',
        (error: unknown) => (error as Error).message,
      );
    expect(await patch(tenant, { metadata: { finalizers: ['test.example/a'] } })).to.equal('');
    expect(await patch(tenant, { spec: { config: 2 } }))
      .to.contain('not both')
      .and.contain('skip-validation');
    expect(await patch(maintainer, { spec: { config: 3 } })).to.equal('');
    expect(await patch(tenant, { spec: { secretRef: null } })).to.equal('');
  });

  it('has an effect for all with the setting of upstream', async () => {
    await serve('all');
    expect(await denial(tenant, object('a', { labels: label() }))).to.equal(undefined);
    expect(await denial(tenant, object('a', { labels: label('yes') }))).to.contain('not both');
  });
});
