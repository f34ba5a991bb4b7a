/** Create and metadata: scenarios API-20 to API-46. */
import { expect } from 'chai';
import { causesOf, refused, warningsOf } from './assertions.ts';
import { cm, deployment, widget, widgetCrd } from './fixtures.ts';
import { useSubject } from './subject.ts';
import type { Json } from './subject.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('create and metadata', () => {
  const s = useSubject();
  let ns: string;
  let cms: string;

  beforeEach(async () => {
    ns = await s.namespace();
    cms = `/api/v1/namespaces/${ns}/configmaps`;
  });

  it('API-20: a new object gets its system fields, and its creator owns the fields that it set', async () => {
    const reply = await s.post(cms, cm('a'));
    expect(reply.code).to.equal(201);
    const { metadata } = reply.body;
    expect(metadata.uid).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(metadata.creationTimestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(metadata.resourceVersion).to.match(/^\d+$/);
    expect(metadata).to.not.have.any.keys('generation', 'selfLink');
    expect(metadata.managedFields).to.have.length(1);
    expect(metadata.managedFields[0]).to.deep.include({
      manager: 'conformance',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
    });
  });

  it('API-21: creating the same name again fails', async () => {
    await s.post(cms, cm('a'));
    const reply = await s.post(cms, cm('a'));
    expect(reply.body).to.deep.include({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
      details: { name: 'a', kind: 'configmaps' },
    });
  });

  it('API-22: a name is required', async () => {
    const reply = await s.post(cms, { metadata: {}, data: {} });
    refused(
      reply,
      422,
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    );
  });

  it('API-23: generated names have five random characters and at most 63 in all', async () => {
    const one = await s.post(cms, { metadata: { generateName: 'gen-' } });
    expect(one.body.metadata.name).to.match(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const two = await s.post(cms, { metadata: { generateName: 'x'.repeat(70) } });
    expect(two.body.metadata.name).to.have.length(63);
  });

  it('API-24: an invalid generateName is reported twice', async () => {
    const reply = await s.post(cms, { metadata: { generateName: 'Gen-' } });
    expect(reply.code).to.equal(422);
    expect(reply.body.details.causes.map((c: Json) => c.field)).to.have.members([
      'metadata.generateName',
      'metadata.name',
    ]);
  });

  const ROLES = 'rbac.authorization.k8s.io/v1';
  const names: readonly (readonly [string, () => string, Json, number])[] = [
    ['a ConfigMap Bad_Name', () => cms, cm('Bad_Name'), 422],
    ['a ConfigMap of 254 characters', () => cms, cm('a'.repeat(254)), 422],
    ['a namespace with dots', () => '/api/v1/namespaces', { metadata: { name: 'a.b' } }, 422],
    [
      'a service that starts with a digit',
      () => `/api/v1/namespaces/${ns}/services`,
      { metadata: { name: '1abc' }, spec: { ports: [{ port: 80 }] } },
      422,
    ],
    [
      'a role with a colon',
      () => `/apis/${ROLES}/namespaces/${ns}/roles`,
      { metadata: { name: 'a:b_C' }, rules: [] },
      201,
    ],
    [
      'a role with a slash',
      () => `/apis/${ROLES}/namespaces/${ns}/roles`,
      { metadata: { name: 'a/b' }, rules: [] },
      422,
    ],
  ];
  for (const [what, path, body, code] of names)
    it(`API-25: ${what} is answered with ${code}`, async () => {
      expect((await s.post(path(), body)).code).to.equal(code);
    });

  it('API-26: the namespace in the body must be that of the URL', async () => {
    const reply = await s.post(cms, cm('a', { metadata: { namespace: 'other' } }));
    refused(
      reply,
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  });

  it('API-27: a new object must not have a resource version', async () => {
    const reply = await s.post(cms, cm('a', { metadata: { resourceVersion: '5' } }));
    expect(reply.code).to.equal(500);
    expect(reply.body).to.not.have.property('reason');
    expect(reply.body.message).to.equal('resourceVersion should not be set on objects to be created');
    expect((await s.post(cms, cm('a', { metadata: { resourceVersion: '0' } }))).code).to.equal(201);
  });

  it('API-28: system fields in the body are ignored', async () => {
    const reply = await s.post(
      cms,
      cm('a', {
        metadata: {
          uid: 'mine',
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
        },
      }),
    );
    expect(reply.code).to.equal(201);
    expect(reply.body.metadata.uid).to.not.equal('mine');
    expect(reply.body.metadata.creationTimestamp).to.not.equal('2001-01-01T00:00:00Z');
    expect(reply.body.metadata).to.not.have.property('deletionTimestamp');
  });

  const bodies: readonly (readonly [string, unknown, number, string])[] = [
    [
      'another kind',
      { ...cm('a'), kind: 'Secret' },
      400,
      'Secret in version "v1" cannot be handled as a ConfigMap:…',
    ],
    [
      'another version',
      { ...cm('a'), apiVersion: 'v2' },
      400,
      'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2"…',
    ],
    [
      'broken JSON',
      '{bad',
      400,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error:…",
    ],
    [
      'a list',
      [1],
      400,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error:…",
    ],
  ];
  for (const [what, body, code, message] of bodies)
    it(`API-29: ${what} is rejected`, async () => {
      refused(await s.post(cms, body), code, message);
    });

  it('API-29: a built-in kind need not be in the body', async () => {
    expect((await s.post(cms, { metadata: { name: 'a' } })).code).to.equal(201);
    expect((await s.post(cms, '')).code).to.equal(400);
  });

  it("API-30: a value of the wrong type is reported in Go's words", async () => {
    refused(
      await s.post(cms, cm('a', { data: { a: 5 } })),
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
    refused(
      await s.post(
        `/apis/apps/v1/namespaces/${ns}/deployments`,
        deployment('d', { spec: { replicas: '3' } }),
      ),
      400,
      'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
  });

  it('API-31: a namespace must exist', async () => {
    refused(await s.post('/api/v1/namespaces/nope/configmaps', cm('a')), 404, 'namespaces "nope" not found');
  });

  it('API-32: a dry run stores nothing', async () => {
    const reply = await s.post(`${cms}?dryRun=All`, cm('a'));
    expect(reply.code).to.equal(201);
    expect(reply.body.metadata.uid).to.be.a('string');
    expect(reply.body.metadata).to.not.have.property('resourceVersion');
    expect((await s.get(`${cms}/a`)).code).to.equal(404);
    const bad = await s.post(`${cms}?dryRun=Some`, cm('a'));
    refused(
      bad,
      422,
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    );
  });

  const FOUND = ['duplicate field "data.a"', 'unknown field "bar"', 'unknown field "foo"'];
  const sloppy = (name: string): string =>
    `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"},"data":{"a":"1","a":"2"},"foo":1,"bar":2}`;

  it('API-33: strict validation reports every problem, duplicates first', async () => {
    const text = refused(
      await s.post(`${cms}?fieldValidation=Strict`, sloppy('a')),
      400,
      /strict decoding error: duplicate/,
    ).message;
    const found = /strict decoding error: (.*)$/.exec(text)?.[1] ?? '';
    expect(found.split(', ')).to.have.members(FOUND);
  });

  it('API-34: problems are warnings by default, and ignored on request', async () => {
    for (const query of ['', '?fieldValidation=Warn']) {
      const reply = await s.post(`${cms}${query}`, sloppy(`w${query.length}`));
      expect(reply.code).to.equal(201);
      expect(reply.body.data.a).to.equal('2');
      expect(reply.body).to.not.have.property('foo');
      expect(warningsOf(reply)).to.have.members(FOUND);
    }
    const silent = await s.post(`${cms}?fieldValidation=Ignore`, sloppy('i'));
    expect(warningsOf(silent)).to.deep.equal([]);
  });

  const metas: readonly (readonly [string, Json, string])[] = [
    ['a label key with a blank', { labels: { 'a b': 'x' } }, 'metadata.labels'],
    ['a label value with a slash', { labels: { a: 'x/y' } }, 'metadata.labels'],
    ['too many annotations', { annotations: { a: 'x'.repeat(262_145) } }, 'metadata.annotations'],
  ];
  for (const [what, metadata, path] of metas)
    it(`API-35: ${what} is rejected`, async () => {
      const reply = await s.post(cms, cm('a', { metadata }));
      expect(reply.code).to.equal(422);
      expect(reply.body.details.causes.map((c: Json) => c.field)).to.deep.equal([path]);
    });

  it('API-36: owner references must be complete and unique, with at most one controller', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' };
    const of = (...ownerReferences: Json[]): Json => cm('a', { metadata: { ownerReferences } });
    const empty = await s.post(cms, of({ apiVersion: '', kind: '', name: '', uid: '' }));
    expect(empty.body.details.causes).to.have.length(4);
    expect(causesOf(empty)[0]).to.equal(
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
    );
    const two = await s.post(
      cms,
      of({ ...owner, controller: true }, { ...owner, uid: 'u2', name: 'p', controller: true }),
    );
    expect(two.code).to.equal(422);
    expect(two.body.message).to.match(/Only one reference can have Controller set to true/);
    const same = await s.post(cms, of(owner, owner));
    expect(same.code).to.equal(201);
    expect(same.body.metadata.ownerReferences).to.have.length(1);
    expect(warningsOf(same)[0]).to.match(/duplicate/);
  });

  it('API-37: finalizers of built-in kinds are qualified names', async () => {
    const of = (finalizer: string, name = 'a'): Json => cm(name, { metadata: { finalizers: [finalizer] } });
    expect((await s.post(cms, of('bad'))).body.message).to.match(
      /name is neither a standard finalizer name nor is it fully qualified/,
    );
    expect((await s.post(cms, of('x/y/z'))).code).to.equal(422);
    expect((await s.post(cms, of('a.b/c'))).code).to.equal(201);
    await s.merge(`${cms}/a`, { metadata: { finalizers: null } });
  });

  it('API-38: a finalizer without a path causes a warning on custom kinds', async () => {
    const group = 's38.example.com';
    await s.post(CRDS, widgetCrd(group));
    await s.eventually(`${CRDS}/widgets.${group}`, (r) =>
      r.body.status?.conditions?.some((c: Json) => c.type === 'Established' && c.status === 'True'),
    );
    const path = `/apis/${group}/v1/namespaces/${ns}/widgets`;
    const finalizers = ['finalizer.landscaper.gardener.cloud'];
    const reply = await s.eventuallyPost(path, widget(group, 'w', {}, { finalizers }));
    expect(reply.code).to.equal(201);
    expect(warningsOf(reply)[0]).to.equal(
      'metadata.finalizers: "finalizer.landscaper.gardener.cloud": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    );
    expect((await s.post(cms, cm('a', { metadata: { finalizers } }))).code).to.equal(422);
    await s.merge(`${path}/w`, { metadata: { finalizers: null } });
    await s.delete(`${CRDS}/widgets.${group}`);
  });

  it('API-39: secrets accept stringData, keep base64, and validate the data of their type', async () => {
    const path = `/api/v1/namespaces/${ns}/secrets`;
    const made = await s.post(path, {
      metadata: { name: 'a' },
      data: { x: 'MQ==' },
      stringData: { x: 'two', y: 'drei' },
    });
    expect(made.body).to.not.have.property('stringData');
    expect(made.body).to.deep.include({ type: 'Opaque', data: { x: 'dHdv', y: 'ZHJlaQ==' } });
    expect((await s.post(path, { metadata: { name: 'b' }, data: { x: '!' } })).code).to.equal(400);
    const tls = await s.post(path, { metadata: { name: 'c' }, type: 'kubernetes.io/tls' });
    expect(causesOf(tls)).to.deep.equal(['data[tls.crt]: Required value', 'data[tls.key]: Required value']);
  });

  it('API-40: a deployment gets all its defaults', async () => {
    const made = (await s.post(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment('d'))).body;
    expect(made.metadata.generation).to.equal(1);
    expect(made.status).to.deep.equal({});
    expect(made.spec).to.deep.include({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    });
    expect(made.spec.template.spec).to.deep.equal({
      containers: [
        {
          name: 'c',
          image: 'nginx:1',
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    });
  });

  it('API-41: inconsistent deployments are rejected', async () => {
    const path = `/apis/apps/v1/namespaces/${ns}/deployments`;
    const mismatch = await s.post(
      path,
      deployment('d', { spec: { selector: { matchLabels: { a: 'no' } } } }),
    );
    expect(causesOf(mismatch)).to.deep.equal([
      'spec.template.metadata.labels: Invalid value: {"app":"d"}: `selector` does not match template `labels`',
    ]);
    const bare = await s.post(
      path,
      deployment('d', { spec: { template: { metadata: { labels: { app: 'd' } }, spec: {} } } }),
    );
    expect(causesOf(bare)).to.deep.equal(['spec.template.spec.containers: Required value']);
    const odd = deployment('d', { spec: { replicas: -1 } });
    odd.spec.template.spec.restartPolicy = 'Never';
    expect((await s.post(path, odd)).body.details.causes.map((c: Json) => c.field)).to.have.members([
      'spec.replicas',
      'spec.template.spec.restartPolicy',
    ]);
  });

  it('API-42: quantities are stored in canonical form', async () => {
    const body = deployment('d');
    body.spec.template.spec.containers[0].resources = { limits: { cpu: '1000m', memory: '0.5Gi' } };
    const made = (await s.post(`/apis/apps/v1/namespaces/${ns}/deployments`, body)).body;
    expect(made.spec.template.spec.containers[0].resources.limits).to.deep.equal({
      cpu: '1',
      memory: '512Mi',
    });
  });

  it('API-43: services get addresses and ports according to their type', async () => {
    const path = `/api/v1/namespaces/${ns}/services`;
    const make = async (name: string, spec: Json): Promise<Json> =>
      (await s.post(path, { metadata: { name }, spec })).body.spec;
    const ports = [{ port: 80 }];
    expect((await make('a', { ports })).clusterIP).to.match(/^10\.0\.0\.\d+$/);
    expect((await make('b', { ports, clusterIP: 'None' })).clusterIP).to.equal('None');
    expect((await make('c', { ports, type: 'NodePort' })).ports[0].nodePort).to.be.within(30_000, 32_767);
    expect(await make('d', { type: 'ExternalName', externalName: 'example.com' })).to.not.have.property(
      'clusterIP',
    );
  });

  it('API-44: an event belongs to the namespace of its object', async () => {
    const reply = await s.post(`/api/v1/namespaces/${ns}/events`, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    });
    expect(reply.code).to.equal(422);
    expect(causesOf(reply)).to.deep.equal([
      'involvedObject.namespace: Invalid value: "default": does not match event.namespace',
    ]);
  });

  it('API-45: times of leases have exactly six decimals', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
    expect(
      (await s.post(path, { metadata: { name: 'a' }, spec: { renewTime: '2026-01-01T00:00:00Z' } })).code,
    ).to.equal(400);
    const good = await s.post(path, {
      metadata: { name: 'a' },
      spec: { renewTime: '2026-01-01T00:00:00.123456Z' },
    });
    expect(good.body.spec.renewTime).to.equal('2026-01-01T00:00:00.123456Z');
  });

  it('API-46: events are the same objects in both groups', async () => {
    await s.post(`/api/v1/namespaces/${ns}/events`, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: ns, name: 'p' },
      message: 'hello',
      count: 3,
    });
    const other = (await s.get(`/apis/events.k8s.io/v1/namespaces/${ns}/events/e`)).body;
    expect(other).to.deep.include({
      kind: 'Event',
      apiVersion: 'events.k8s.io/v1',
      note: 'hello',
      deprecatedCount: 3,
    });
    expect(other.regarding.name).to.equal('p');
  });
});
