/** Delete, finalizers, garbage collection, namespaces: scenarios API-124 to API-147. */
import { expect } from 'chai';
import { refused, warningsOf } from './assertions.ts';
import { cm, conditionOf, widget, widgetCrd } from './fixtures.ts';
import { skipUnlessControlled, useSubject } from './subject.ts';
import type { Json } from './subject.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('delete, finalizers, garbage collection, namespaces', function () {
  this.timeout(60_000);
  const s = useSubject();
  let ns: string;
  let cms: string;

  beforeEach(async () => {
    ns = await s.namespace();
    cms = `/api/v1/namespaces/${ns}/configmaps`;
  });

  const make = async (name: string, metadata: Json = {}): Promise<Json> =>
    (await s.post(cms, cm(name, { metadata }))).body;
  const held = { finalizers: ['a.b/c'] };
  const isGone = async (path: string): Promise<boolean> =>
    (await s.eventually(path, (r) => r.code === 404)).code === 404;
  const owner = (of: Json, more: Json = {}): Json => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: of.metadata.name,
    uid: of.metadata.uid,
    ...more,
  });

  it('API-124: a deletion returns a Status, and the object is gone', async () => {
    const { metadata } = await make('a');
    expect((await s.delete(`${cms}/a`)).body).to.deep.equal({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: metadata.uid },
    });
    expect((await s.delete(`${cms}/a`)).code).to.equal(404);
  });

  it('API-125: deleting a service or a service account returns the object', async () => {
    const services = `/api/v1/namespaces/${ns}/services`;
    await s.post(services, { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } });
    expect((await s.delete(`${services}/a`)).body.kind).to.equal('Service');
    const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
    await s.post(accounts, { metadata: { name: 'a' } });
    expect((await s.delete(`${accounts}/a`)).body.kind).to.equal('ServiceAccount');
  });

  it('API-126: a finalizer delays the deletion', async () => {
    await make('a', held);
    const first = await s.delete(`${cms}/a`);
    expect(first.code).to.equal(200);
    expect(first.body.metadata.deletionTimestamp).to.be.a('string');
    expect(first.body.metadata.deletionGracePeriodSeconds).to.equal(0);
    const second = await s.delete(`${cms}/a`);
    expect(second.body.metadata.resourceVersion).to.equal(first.body.metadata.resourceVersion);
    await s.merge(`${cms}/a`, { metadata: { finalizers: null } });
  });

  it('API-127: a deletion raises the generation of a custom object', async () => {
    const group = 's127.example.com';
    await s.post(CRDS, widgetCrd(group));
    const path = `/apis/${group}/v1/namespaces/${ns}/widgets`;
    expect((await s.eventuallyPost(path, widget(group, 'w', {}, held))).body.metadata.generation).to.equal(1);
    expect((await s.delete(`${path}/w`)).body.metadata.generation).to.equal(2);
    await s.merge(`${path}/w`, { metadata: { finalizers: null } });
    await s.delete(`${CRDS}/widgets.${group}`);
  });

  it('API-128: a terminating object accepts no new finalizers and stays terminating', async () => {
    await make('a', held);
    await s.delete(`${cms}/a`);
    refused(
      await s.merge(`${cms}/a`, { metadata: { finalizers: ['a.b/c', 'n.e/w'] } }),
      422,
      'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"n.e/w"}',
    );
    const ignored = await s.merge(`${cms}/a`, { metadata: { deletionTimestamp: null } });
    expect(ignored.code).to.equal(200);
    expect(ignored.body.metadata.deletionTimestamp).to.be.a('string');
    await s.merge(`${cms}/a`, { metadata: { finalizers: null } });
  });

  it('API-129: its name is in use until it is gone', async () => {
    await make('a', held);
    await s.delete(`${cms}/a`);
    refused(await s.post(cms, cm('a')), 409, 'object is being deleted: configmaps "a" already exists');
    await s.merge(`${cms}/a`, { metadata: { finalizers: null } });
  });

  const releases: readonly (readonly [string, (live: Json) => Promise<{ code: number }>])[] = [
    ['PUT', (live) => s.put(`${cms}/a`, { ...live, metadata: { ...live.metadata, finalizers: [] } })],
    ['a merge patch', () => s.merge(`${cms}/a`, { metadata: { finalizers: null } })],
    ['a JSON patch', () => s.jsonPatch(`${cms}/a`, [{ op: 'remove', path: '/metadata/finalizers/0' }])],
  ];
  for (const [how, release] of releases)
    it(`API-130: removing the last finalizer by ${how} deletes the object`, async () => {
      await make('a', held);
      const { body } = await s.delete(`${cms}/a`);
      expect((await release(body)).code).to.equal(200);
      expect((await s.get(`${cms}/a`)).code).to.equal(404);
    });

  it('API-131: preconditions are checked', async () => {
    const { metadata } = await make('a');
    refused(
      await s.delete(`${cms}/a`, { preconditions: { uid: 'other' } }),
      409,
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
    refused(
      await s.delete(`${cms}/a`, { preconditions: { resourceVersion: '1' } }),
      409,
      `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
    expect((await s.delete(`${cms}/a`, { preconditions: { uid: metadata.uid } })).code).to.equal(200);
  });

  it('API-132: invalid options are rejected', async () => {
    await make('a');
    const odd = await s.delete(`${cms}/a`, { propagationPolicy: 'Foo' });
    refused(
      odd,
      422,
      /propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"/,
    );
    const both = await s.delete(`${cms}/a`, { propagationPolicy: 'Orphan', orphanDependents: true });
    refused(both, 422, /orphanDependents and deletionPropagation cannot be both set/);
    const garbage = await s.delete(`${cms}/a`, '{bad');
    expect(garbage.code).to.equal(500);
    expect(garbage.body.message).to.match(/^couldn't get version\/kind; json parse error: /);
  });

  for (const [policy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ])
    it(`API-133: ${String(policy)} adds a finalizer`, async () => {
      await make('a', held);
      const reply = await s.delete(`${cms}/a`, { propagationPolicy: policy });
      expect(reply.body.metadata.finalizers).to.include(finalizer);
      await s.merge(`${cms}/a`, { metadata: { finalizers: null } });
    });

  it('API-134: Background removes the foreground finalizer', async () => {
    await make('a', { finalizers: ['foregroundDeletion'] });
    await s.delete(`${cms}/a`, { propagationPolicy: 'Background' });
    expect((await s.get(`${cms}/a`)).code).to.equal(404);
  });

  it('API-135: deleting a collection deletes each object, and respects finalizers', async () => {
    await make('a', { labels: { x: '1' } });
    await make('b', { labels: { x: '1' }, ...held });
    await make('c');
    const reply = await s.delete(`${cms}?labelSelector=x=1`);
    expect(reply.body.items.map((o: Json) => o.metadata.name)).to.deep.equal(['a', 'b']);
    expect((await s.get(`${cms}/a`)).code).to.equal(404);
    expect((await s.get(`${cms}/b`)).body.metadata.deletionTimestamp).to.be.a('string');
    expect((await s.get(`${cms}/c`)).code).to.equal(200);
    await s.merge(`${cms}/b`, { metadata: { finalizers: null } });
  });

  it('API-136: pods on a node have a grace period', async () => {
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const pod = (name: string, spec: Json = {}): Json => ({
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    });
    expect((await s.post(pods, pod('a'))).code).to.equal(201);
    await s.delete(`${pods}/a`);
    expect((await s.get(`${pods}/a`)).code).to.equal(404);
    await s.post(pods, pod('b', { nodeName: 'n' }));
    const marked = (await s.delete(`${pods}/b`)).body.metadata;
    expect(marked.deletionGracePeriodSeconds).to.equal(30);
    const shorter = (await s.delete(`${pods}/b`, { gracePeriodSeconds: 5 })).body.metadata;
    expect(shorter.deletionGracePeriodSeconds).to.equal(5);
    expect(Date.parse(shorter.deletionTimestamp)).to.be.lessThan(Date.parse(marked.deletionTimestamp));
    await s.delete(`${pods}/b`, { gracePeriodSeconds: 0 });
    expect((await s.get(`${pods}/b`)).code).to.equal(404);
  });

  it('API-137: dependents are deleted with their owner', async function () {
    skipUnlessControlled(this, s);
    const o = await make('o');
    await make('d', { ownerReferences: [owner(o)] });
    await s.delete(`${cms}/o`);
    expect(await isGone(`${cms}/d`)).to.equal(true);
  });

  it('API-138: an owner that never existed counts as deleted; one of an unknown kind does not', async function () {
    skipUnlessControlled(this, s);
    const o = await make('o');
    await make('unknown', {
      ownerReferences: [{ apiVersion: 'no.such/v1', kind: 'Thing', name: 't', uid: 'u' }],
    });
    await make('other-uid', { ownerReferences: [{ ...owner(o), uid: 'other' }] });
    await make('missing', { ownerReferences: [{ ...owner(o), name: 'nope', uid: 'other' }] });
    expect(await isGone(`${cms}/other-uid`)).to.equal(true);
    expect(await isGone(`${cms}/missing`)).to.equal(true);
    expect((await s.get(`${cms}/unknown`)).code).to.equal(200);
  });

  it('API-139: with another owner left only the owner reference is removed', async function () {
    skipUnlessControlled(this, s);
    const [a, b] = [await make('a'), await make('b')];
    await make('d', { ownerReferences: [owner(a), owner(b)] });
    await s.delete(`${cms}/a`);
    const left = await s.eventually(`${cms}/d`, (r) => r.body.metadata?.ownerReferences?.length === 1);
    expect(left.body.metadata.ownerReferences).to.deep.equal([owner(b)]);
  });

  it('API-140: orphans stay, without the owner reference', async function () {
    skipUnlessControlled(this, s);
    const o = await make('o');
    await make('d', { ownerReferences: [owner(o)] });
    await s.delete(`${cms}/o`, { propagationPolicy: 'Orphan' });
    expect(await isGone(`${cms}/o`)).to.equal(true);
    expect((await s.get(`${cms}/d`)).body.metadata).to.not.have.property('ownerReferences');
  });

  it('API-141: with foreground deletion an owner waits for the dependents that block it', async function () {
    skipUnlessControlled(this, s);
    const o = await make('o');
    await make('blocking', { ownerReferences: [owner(o, { blockOwnerDeletion: true })], ...held });
    await make('free', { ownerReferences: [owner(o)], ...held });
    await s.delete(`${cms}/o`, { propagationPolicy: 'Foreground' });
    await s.eventually(`${cms}/blocking`, (r) => r.body.metadata?.deletionTimestamp !== undefined);
    expect((await s.get(`${cms}/o`)).code).to.equal(200);
    await s.merge(`${cms}/blocking`, { metadata: { finalizers: null } });
    expect(await isGone(`${cms}/o`)).to.equal(true);
    expect((await s.get(`${cms}/free`)).code).to.equal(200);
    await s.merge(`${cms}/free`, { metadata: { finalizers: null } });
  });

  it('API-142: an owner in another namespace counts as deleted, and an event reports it', async function () {
    skipUnlessControlled(this, s);
    const o = await make('o');
    const other = await s.namespace();
    const there = `/api/v1/namespaces/${other}/configmaps`;
    await s.post(there, cm('d', { metadata: { ownerReferences: [owner(o)] } }));
    expect(await isGone(`${there}/d`)).to.equal(true);
    const events = await s.eventually(`/api/v1/namespaces/${other}/events`, (r) => r.body.items.length > 0);
    expect(events.body.items[0]).to.deep.include({ reason: 'OwnerRefInvalidNamespace', type: 'Warning' });
  });

  it('API-143: deleting a job without a policy keeps its pods and returns a warning', async () => {
    const jobs = `/apis/batch/v1/namespaces/${ns}/jobs`;
    await s.post(jobs, {
      metadata: { name: 'j', ...held },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
    });
    const reply = await s.delete(`${jobs}/j`);
    expect(reply.body.metadata.finalizers).to.include('orphan');
    expect(warningsOf(reply)[0]).to.match(/^child pods are preserved by default when jobs are deleted/);
    await s.merge(`${jobs}/j`, { metadata: { finalizers: null } });
  });

  it('API-144: a namespace is deleted after its content, and reports what it waits for', async function () {
    skipUnlessControlled(this, s);
    await make('a');
    await make('b', held);
    const reply = await s.delete(`/api/v1/namespaces/${ns}`);
    expect(reply.body.status.phase).to.equal('Terminating');
    const waiting = await s.eventually(
      `/api/v1/namespaces/${ns}`,
      (r) => conditionOf(r.body, 'NamespaceFinalizersRemaining')?.status === 'True',
    );
    expect(waiting.body.status.conditions).to.have.length(5);
    expect(conditionOf(waiting.body, 'NamespaceContentRemaining').message).to.equal(
      'Some resources are remaining: configmaps. has 1 resource instances',
    );
    expect(conditionOf(waiting.body, 'NamespaceFinalizersRemaining').message).to.equal(
      'Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances',
    );
    await s.merge(`${cms}/b`, { metadata: { finalizers: null } });
    expect(await isGone(`/api/v1/namespaces/${ns}`)).to.equal(true);
  });

  it('API-144: an empty namespace with a finalizer stays', async function () {
    skipUnlessControlled(this, s);
    const path = `/api/v1/namespaces/${ns}`;
    await s.merge(path, { metadata: { finalizers: ['a.b/c'] } });
    await s.delete(path);
    const empty = await s.eventually(path, (r) => (r.body.spec.finalizers ?? []).length === 0);
    const other = await s.namespace();
    await s.delete(`/api/v1/namespaces/${other}`);
    expect(await isGone(`/api/v1/namespaces/${other}`)).to.equal(true);
    expect((await s.get(path)).body.metadata.resourceVersion).to.equal(empty.body.metadata.resourceVersion);
    await s.merge(path, { metadata: { finalizers: null } });
    expect(await isGone(path)).to.equal(true);
  });

  it('API-145: nothing can be created in a terminating namespace', async () => {
    await make('a', held);
    await s.delete(`/api/v1/namespaces/${ns}`);
    const reply = await s.post(cms, cm('b'));
    refused(
      reply,
      403,
      `configmaps "b" is forbidden: unable to create new content in namespace ${ns} because it is being terminated`,
    );
    expect(reply.body.details.causes).to.deep.equal([
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${ns} is being terminated`,
        field: 'metadata.namespace',
      },
    ]);
    expect((await s.merge(`${cms}/a`, { data: { b: '2' } })).code).to.equal(200);
    await s.merge(`${cms}/a`, { metadata: { finalizers: null } });
  });

  for (const name of ['default', 'kube-system'])
    it(`API-146: ${name} cannot be deleted`, async () => {
      refused(
        await s.delete(`/api/v1/namespaces/${name}`),
        403,
        `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      );
    });

  it('API-147: every namespace has a default service account and the CA certificate', async function () {
    skipUnlessControlled(this, s);
    const account = `/api/v1/namespaces/${ns}/serviceaccounts/default`;
    const first = await s.eventually(account, (r) => r.code === 200);
    expect(
      (await s.eventually(`${cms}/kube-root-ca.crt`, (r) => r.code === 200)).body.data['ca.crt'],
    ).to.match(/BEGIN CERTIFICATE/);
    await s.delete(account);
    const again = await s.eventually(
      account,
      (r) => r.code === 200 && r.body.metadata.uid !== first.body.metadata.uid,
    );
    expect(again.code).to.equal(200);
  });
});
