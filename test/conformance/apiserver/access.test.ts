/** Access, tokens, audit: scenarios API-166 to API-176 and API-181. */
import { expect } from 'chai';
import { refused } from './assertions.ts';
import { cm } from './fixtures.ts';
import { skip } from '../../support/skip.ts';
import { skipUnlessControlled, skipUnlessEmbedded, useSubject } from './subject.ts';
import type { Json, RequestOptions } from './subject.ts';
import { eventually } from '../../support/waiting.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AUTHZ = '/apis/authorization.k8s.io/v1';
const AUTHN = '/apis/authentication.k8s.io/v1';

describe('access, tokens, audit', function () {
  this.timeout(60_000);
  const s = useSubject({ authorization: 'RBAC' });
  let ns: string;
  let cms: string;

  beforeEach(async () => {
    ns = await s.namespace();
    cms = `/api/v1/namespaces/${ns}/configmaps`;
  });

  const as = (user: string, ...groups: string[]): RequestOptions => ({
    headers: {
      'impersonate-user': user,
      ...(groups.length > 0 ? { 'impersonate-group': groups.join(', ') } : {}),
    },
  });
  const bob = as('bob');
  const grant = async (name: string, rules: Json[], user = 'bob'): Promise<void> => {
    await s.post(`${RBAC}/namespaces/${ns}/roles`, { metadata: { name }, rules });
    await s.post(`${RBAC}/namespaces/${ns}/rolebindings`, {
      metadata: { name: `b-${name}` },
      roleRef: { kind: 'Role', name },
      subjects: [{ kind: 'User', name: user }],
    });
  };
  /** Bindings take a moment to count on a genuine server. */
  const allowed = async (ask: () => Promise<{ code: number }>): Promise<number> => {
    const code = await eventually('the binding counts', async () => {
      const reply = await ask();
      return reply.code !== 403 && reply.code;
    });
    return code;
  };

  const where = (): string => `in the namespace "${ns}"`;
  const refusals: readonly (readonly [
    string,
    () => Promise<{ code: number; text: string; body: Json; headers: never }>,
    () => string,
  ])[] = [
    [
      'list',
      () => s.get(cms, bob) as never,
      () =>
        `configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" ${where()}`,
    ],
    [
      'get',
      () => s.get(`${cms}/a`, bob) as never,
      () =>
        `configmaps "a" is forbidden: User "bob" cannot get resource "configmaps" in API group "" ${where()}`,
    ],
    [
      'create',
      () => s.post(cms, cm('a'), bob) as never,
      () =>
        `configmaps is forbidden: User "bob" cannot create resource "configmaps" in API group "" ${where()}`,
    ],
    [
      'deletecollection',
      () => s.delete(cms, undefined, bob) as never,
      () =>
        `configmaps is forbidden: User "bob" cannot deletecollection resource "configmaps" in API group "" ${where()}`,
    ],
    [
      'watch',
      () => s.get(`${cms}?watch=true`, bob) as never,
      () =>
        `configmaps is forbidden: User "bob" cannot watch resource "configmaps" in API group "" ${where()}`,
    ],
    [
      'a status',
      () => s.merge(`/apis/apps/v1/namespaces/${ns}/deployments/d/status`, {}, bob) as never,
      () =>
        `deployments.apps "d" is forbidden: User "bob" cannot patch resource "deployments/status" in API group "apps" ${where()}`,
    ],
    [
      'the cluster',
      () => s.get('/api/v1/nodes', bob) as never,
      () =>
        'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'a path',
      () => s.get('/metrics', bob) as never,
      () => 'forbidden: User "bob" cannot get path "/metrics"',
    ],
  ];
  for (const [what, ask, message] of refusals)
    it(`API-166: without rights, ${what} is forbidden`, async () => {
      refused(await ask(), 403, message());
    });

  it('API-167: an unauthenticated client may read the version but not the API', async () => {
    expect((await s.get('/version', { token: null })).code).to.equal(200);
    expect((await s.get('/api', { token: null })).code).to.be.oneOf([401, 403]);
  });

  it('API-168: rules match by name, subresource, and path', async () => {
    await grant('named', [
      { verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] },
    ]);
    await s.post(cms, cm('a'));
    expect(await allowed(() => s.get(`${cms}/a`, bob))).to.equal(200);
    expect((await s.get(`${cms}/b`, bob)).code).to.equal(403);
    expect((await s.get(cms, bob)).code).to.equal(403);
    await grant('scaler', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*/scale'] }], 'sam');
    const scale = `/apis/apps/v1/namespaces/${ns}/deployments/d/scale`;
    expect(await allowed(() => s.get(scale, as('sam')))).to.equal(404);
    expect((await s.get(scale.replace('/scale', ''), as('sam'))).code).to.equal(403);
  });

  it('API-169: apply on a missing object needs the rights to patch and to create', async () => {
    await grant('patcher', [{ verbs: ['patch'], apiGroups: [''], resources: ['configmaps'] }], 'pat');
    const ask = (user: string): Promise<{ code: number; text: string; body: Json }> =>
      s.request('PATCH', `${cms}/a?fieldManager=m`, {
        body: cm('a'),
        type: 'application/apply-patch+yaml',
        ...as(user),
      });
    expect((await ask('eve')).body.message).to.match(/cannot patch resource/);
    await eventually('pat may patch', async () => !/cannot patch/.test((await ask('pat')).body.message));
    const reply = await ask('pat');
    expect(reply.code).to.equal(403);
    expect(reply.body.message).to.match(/cannot create resource "configmaps"/);
  });

  it('API-170: users may not grant more rights than they have', async function () {
    if (!s.isGenuine) skip(this, 'the embedded server has no checks against privilege escalation');
    const name = `bind-${ns}`;
    const rules = [{ verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'] }];
    await s.post(`${RBAC}/clusterroles`, { metadata: { name }, rules });
    await s.post(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    });
    const own = `${name}-own`;
    const binding = {
      metadata: { name: own },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    };
    const ask = () => s.post(`${RBAC}/clusterrolebindings`, binding, bob);
    await eventually('bob may bind', async () => !/cannot create resource/.test((await ask()).body.message));
    refused(
      await ask(),
      403,
      `clusterrolebindings.rbac.authorization.k8s.io "${own}" is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n…`,
    );
    await s.delete(`${RBAC}/clusterrolebindings/${name}`);
    await s.delete(`${RBAC}/clusterroles/${name}`);
  });

  const selfReview = (
    attributes: Json,
    options: RequestOptions = {},
  ): Promise<{ code: number; body: Json }> =>
    s.post(
      `${AUTHZ}/selfsubjectaccessreviews`,
      { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: attributes },
      options,
    );

  it('API-171: access reviews return what is allowed, and why', async () => {
    await grant('r1', [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }]);
    const wanted = { resourceAttributes: { namespace: ns, verb: 'list', resource: 'pods' } };
    const reply = await eventually('bob may list pods', async () => {
      const answer = await selfReview(wanted, bob);
      return answer.body.status?.allowed === true && answer;
    });
    expect(reply.code).to.equal(201);
    expect(reply.body.status).to.deep.equal({
      allowed: true,
      reason: `RBAC: allowed by RoleBinding "b-r1/${ns}" of Role "r1" to User "bob"`,
    });
    const denied = await selfReview(
      { resourceAttributes: { namespace: ns, verb: 'delete', resource: 'pods' } },
      bob,
    );
    expect(denied.body.status.allowed).to.equal(false);
    expect((await selfReview({})).code).to.equal(422);
    const other = await s.post(`${AUTHZ}/subjectaccessreviews`, {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { ...wanted, user: 'bob' },
    });
    expect(other.body.status.allowed).to.equal(true);
  });

  it('API-172: a SelfSubjectReview returns user and groups', async () => {
    const reply = await s.post(
      `${AUTHN}/selfsubjectreviews`,
      { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' },
      as('bob', 'devs'),
    );
    expect(reply.code).to.equal(201);
    expect(reply.body.status.userInfo.username).to.equal('bob');
    expect(reply.body.status.userInfo.groups).to.have.members(['devs', 'system:authenticated']);
  });

  it('API-172: a client certificate authenticates its user', async function () {
    skipUnlessEmbedded(this, s);
    const { certificate } = s.server.certificateClient({ username: 'carla', groups: ['ops'] });
    expect(certificate).to.match(/BEGIN CERTIFICATE/);
  });

  it('API-173: a user without the right to impersonate is rejected with a message', async () => {
    const account = await s.post(`/api/v1/namespaces/${ns}/serviceaccounts/default/token`, { spec: {} });
    if (account.code === 404)
      await s.post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'default' } });
    const token = (await s.post(`/api/v1/namespaces/${ns}/serviceaccounts/default/token`, { spec: {} })).body
      .status.token as string;
    const reply = await s.get(cms, { token, headers: { 'impersonate-user': 'jane' } });
    refused(
      reply,
      403,
      `users "jane" is forbidden: User "system:serviceaccount:${ns}:default" cannot impersonate resource "users" in API group "" at the cluster scope`,
    );
  });

  describe('service account tokens', () => {
    let path: string;
    beforeEach(async () => {
      await s.post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'sa' } });
      path = `/api/v1/namespaces/${ns}/serviceaccounts/sa/token`;
    });

    it('API-174: are issued on request, and name their account', async () => {
      const reply = await s.post(path, { spec: {} });
      expect(reply.code).to.equal(201);
      expect(reply.body.spec.expirationSeconds).to.be.at.least(3600);
      const token = reply.body.status.token as string;
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      expect(claims.sub).to.equal(`system:serviceaccount:${ns}:sa`);
      expect(claims['kubernetes.io'].serviceaccount.name).to.equal('sa');
      const self = await s.post(
        `${AUTHN}/selfsubjectreviews`,
        { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' },
        { token },
      );
      expect(self.body.status.userInfo.username).to.equal(`system:serviceaccount:${ns}:sa`);
      expect(self.body.status.userInfo.groups).to.have.members([
        'system:serviceaccounts',
        `system:serviceaccounts:${ns}`,
        'system:authenticated',
      ]);
      const review = await s.post(`${AUTHN}/tokenreviews`, {
        kind: 'TokenReview',
        apiVersion: 'authentication.k8s.io/v1',
        spec: { token },
      });
      expect(review.body.status.authenticated).to.equal(true);
      const bad = await s.post(`${AUTHN}/tokenreviews`, {
        kind: 'TokenReview',
        apiVersion: 'authentication.k8s.io/v1',
        spec: { token: 'x.y.z' },
      });
      expect(bad.body.status).to.not.have.property('authenticated');
      expect(bad.body.status.error).to.be.a('string');
    });

    it('API-174: must live at least ten minutes, and need an account', async () => {
      refused(
        await s.post(path, { spec: { expirationSeconds: 60 } }),
        422,
        /spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes/,
      );
      expect((await s.post(path.replace('/sa/', '/nope/'), { spec: {} })).code).to.equal(404);
    });

    it('API-175: become invalid with their account', async () => {
      const token = (await s.post(path, { spec: {} })).body.status.token as string;
      await s.delete(`/api/v1/namespaces/${ns}/serviceaccounts/sa`);
      await eventually('the token is refused', async () => (await s.get(cms, { token })).code === 401);
      expect((await s.get(cms, { token })).code).to.equal(401);
    });
  });

  it('API-176: a Secret of their type is filled in', async function () {
    skipUnlessControlled(this, s);
    await s.post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'sa' } });
    const path = `/api/v1/namespaces/${ns}/secrets`;
    await s.post(path, {
      metadata: { name: 't', annotations: { 'kubernetes.io/service-account.name': 'sa' } },
      type: 'kubernetes.io/service-account-token',
    });
    const filled = (await s.eventually(`${path}/t`, (r) => r.body.data?.token !== undefined)).body;
    expect(Object.keys(filled.data)).to.have.members(['token', 'ca.crt', 'namespace']);
    expect(filled.metadata.annotations).to.have.property('kubernetes.io/service-account.uid');
    const token = Buffer.from(filled.data.token, 'base64').toString();
    expect((await s.get(cms, { token })).body.message).to.match(
      new RegExp(`User "system:serviceaccount:${ns}:sa" cannot list`),
    );
  });

  it('API-181: every request is in the audit log', async function () {
    skipUnlessEmbedded(this, s);
    const mark = s.server.audit.mark();
    await s.post(cms, cm('a'));
    await s.get(cms);
    const watch = await s.watch(`${cms}?watch=true`);
    watch.close();
    await s.merge(`/apis/apps/v1/namespaces/${ns}/deployments/d/status`, {});
    const mine = s.server.audit.since(mark).by({ userAgent: 'conformance/1' });
    expect(
      mine.events.map((e) => [
        e.verb,
        e.objectRef?.resource,
        e.objectRef?.subresource ?? '',
        e.responseStatus.code,
      ]),
    ).to.deep.equal([
      ['create', 'configmaps', '', 201],
      ['list', 'configmaps', '', 200],
      ['watch', 'configmaps', '', 200],
      ['patch', 'deployments', 'status', 404],
    ]);
    expect(mine.events[0]?.objectRef).to.include({ namespace: ns, name: 'a' });
    expect(mine.writes).to.equal(2);
    expect(mine.reads).to.equal(1);
  });
});
