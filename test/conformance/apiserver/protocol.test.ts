/** Protocol, discovery, negotiation: scenarios API-01 to API-19. */
import { expect } from 'chai';
import { cm, widgetCrd } from './fixtures.ts';
import { useSubject } from './subject.ts';
import type { Json } from './subject.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const partialAccept = (as: string): string => `application/json;as=${as};g=meta.k8s.io;v=v1,application/json`;

describe('protocol, discovery, negotiation', () => {
  const s = useSubject();

  it('API-01: legacy discovery lists versions, groups and resources', async () => {
    expect((await s.get('/api')).body).to.include({ kind: 'APIVersions' });
    const groups = (await s.get('/apis')).body;
    expect(groups.kind).to.equal('APIGroupList');
    expect(groups.groups.find((g: Json) => g.name === 'apps').preferredVersion.groupVersion).to.equal(
      'apps/v1',
    );
    expect((await s.get('/apis/apps')).body).to.include({ kind: 'APIGroup', name: 'apps' });
    const core = (await s.get('/api/v1')).body;
    const namespaces = core.resources.find((r: Json) => r.name === 'namespaces');
    expect(namespaces.verbs).to.deep.equal(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']);
    expect(namespaces.shortNames).to.deep.equal(['ns']);
    const scale = (await s.get('/apis/apps/v1')).body.resources.find(
      (r: Json) => r.name === 'deployments/scale',
    );
    expect(scale).to.deep.include({
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    });
  });

  it('API-02: aggregated discovery has an ETag and respects If-None-Match', async () => {
    const reply = await s.get('/apis', { accept: AGGREGATED });
    expect(reply.headers['content-type']).to.match(/as=APIGroupDiscoveryList/);
    expect(reply.body.kind).to.equal('APIGroupDiscoveryList');
    const apps = reply.body.items.find((i: Json) => i.metadata.name === 'apps');
    const deployments = apps.versions[0].resources.find((r: Json) => r.resource === 'deployments');
    expect(deployments.scope).to.equal('Namespaced');
    expect(deployments.subresources.map((x: Json) => x.subresource)).to.have.members(['status', 'scale']);
    const again = await s.get('/apis', {
      accept: AGGREGATED,
      headers: { 'if-none-match': String(reply.headers.etag) },
    });
    expect(again.code).to.equal(304);
  });

  it('API-03: a removed version of aggregated discovery alone is not acceptable', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';
    expect((await s.get('/apis', { accept })).code).to.equal(406);
  });

  it('API-04: version and health need no credentials', async () => {
    const version = await s.get('/version', { token: null });
    expect(version.body.gitVersion).to.match(/^v\d+\.\d+\.\d+/);
    for (const path of ['/healthz', '/livez'])
      expect((await s.get(path, { token: null })).text).to.equal('ok');
    const ready = await s.get('/readyz?verbose', { token: null });
    expect(ready.text.trim().split('\n').at(-1)).to.equal('readyz check passed');
  });

  for (const path of ['/nope', '/apis/nope.io/v1/x'])
    it(`API-05: ${path} is a plain 404`, async () => {
      const reply = await s.get(path);
      expect(reply.code).to.equal(404);
      expect(reply.headers['content-type']).to.match(/^text\/plain/);
      expect(reply.text).to.equal('404 page not found\n');
    });

  for (const path of ['/api/v1/nope', '/apis/apps/v9', '/api/v1/namespaces/default/configmaps/x/status'])
    it(`API-06: ${path} is a 404 Status`, async () => {
      const reply = await s.get(path);
      expect(reply.code).to.equal(404);
      expect(reply.body).to.deep.include({
        message: 'the server could not find the requested resource',
        reason: 'NotFound',
        details: {},
      });
    });

  const items = '/api/v1/namespaces/default/configmaps';
  const refused: readonly (readonly [string, string])[] = [
    ['POST', `${items}/x`],
    ['PUT', items],
    ['PATCH', items],
    ['OPTIONS', items],
    ['POST', '/api/v1/configmaps'],
    ['DELETE', '/api/v1/namespaces'],
  ];
  for (const [method, path] of refused)
    it(`API-07: ${method} ${path} is not allowed`, async () => {
      const reply = await s.request(
        method,
        path,
        method === 'POST' || method === 'PUT' ? { body: cm('x') } : {},
      );
      expect(reply.code).to.equal(405);
      expect(reply.body.reason).to.equal('MethodNotAllowed');
      expect(reply.body.message).to.equal('the server does not allow this method on the requested resource');
    });

  it('API-08: an invalid bearer token is rejected, not treated as anonymous', async () => {
    const reply = await s.get('/api/v1/namespaces', { token: 'wrong' });
    expect(reply.code).to.equal(401);
    expect(reply.body).to.deep.equal({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
  });

  it('API-09: a request that accepts no supported media type gets a 406', async () => {
    const reply = await s.get('/api/v1/namespaces', { accept: 'text/html' });
    expect(reply.code).to.equal(406);
    expect(reply.body.reason).to.equal('NotAcceptable');
  });

  it('API-10: responses are YAML on request', async () => {
    const reply = await s.get('/api/v1/namespaces/default', { accept: 'application/yaml' });
    expect(reply.code).to.equal(200);
    expect(reply.headers['content-type']).to.equal('application/yaml');
    expect(reply.text).to.match(/^kind: Namespace$/m);
  });

  it('API-11: bodies may be YAML or have no content type; an unknown type is rejected', async () => {
    const ns = await s.namespace();
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\n';
    const made = await s.post(path, yaml, { type: 'application/yaml' });
    expect(made.code, made.text).to.equal(201);
    const typeless = await s.post(path, cm('n'), { type: '' });
    expect(typeless.code, typeless.text).to.equal(201);
    const refusal = await s.post(path, cm('t'), { type: 'text/plain' });
    expect(refusal.code).to.equal(415);
    expect(refusal.body.reason).to.equal('UnsupportedMediaType');
  });

  it('API-13: a client that prefers protobuf gets a response that it can decode', async () => {
    const reply = await s.get('/api/v1/namespaces/default', {
      accept: 'application/vnd.kubernetes.protobuf,application/json',
    });
    expect(reply.code).to.equal(200);
    expect(reply.headers['content-type']).to.match(/^application\/(json|vnd.kubernetes.protobuf)/);
  });

  it('API-14: bodies and values that are too large are rejected', async () => {
    const ns = await s.namespace();
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    const huge = await s.post(path, cm('h', { data: { a: 'x'.repeat(3_200_000) } }));
    expect(huge.code).to.equal(413);
    expect(huge.body.message).to.equal('Request entity too large: limit is 3145728');
    const large = await s.post(path, cm('l', { data: { a: 'x'.repeat(1_100_000) } }));
    expect(large.code).to.equal(422);
    expect(large.body.details.causes[0].message).to.match(/^Too long/);
  });

  it('API-15: lists are returned as Tables on request', async () => {
    const ns = await s.namespace();
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    await s.post(path, cm('a', { data: { x: '1', y: '2' } }));
    const table = (await s.get(`${path}?fieldSelector=metadata.name=a`, { accept: TABLE })).body;
    expect(table.kind).to.equal('Table');
    expect(table.columnDefinitions.map((c: Json) => c.name)).to.deep.equal(['Name', 'Data', 'Age']);
    expect(table.rows[0].cells.slice(0, 2)).to.deep.equal(['a', 2]);
    expect(table.rows[0].object.kind).to.equal('PartialObjectMetadata');
    const full = (
      await s.get(`${path}?fieldSelector=metadata.name=a&includeObject=Object`, { accept: TABLE })
    ).body;
    expect(full.rows[0].object.data).to.deep.equal({ x: '1', y: '2' });
    const bogus = await s.get(`${path}?includeObject=Bogus`, { accept: TABLE });
    expect(bogus.code).to.equal(400);
  });

  it('API-16: one object is returned as a Table on request; an error stays a Status', async () => {
    const table = (await s.get('/api/v1/namespaces/default', { accept: TABLE })).body;
    expect(table.rows).to.have.length(1);
    const missing = await s.get('/api/v1/namespaces/nope', { accept: TABLE });
    expect(missing.body.kind).to.equal('Status');
  });

  it('API-17: objects, lists and responses of writes are returned with metadata only on request', async () => {
    const ns = await s.namespace();
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    await s.post(path, cm('a'));
    const one = (await s.get(`${path}/a`, { accept: partialAccept('PartialObjectMetadata') })).body;
    expect(one).to.include({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
    expect(one).to.not.have.property('data');
    const many = (await s.get(path, { accept: partialAccept('PartialObjectMetadataList') })).body;
    expect(many.kind).to.equal('PartialObjectMetadataList');
    expect(many.items[0].metadata.name).to.be.a('string');
    const patched = await s.merge(
      `${path}/a`,
      { data: { b: '2' } },
      { accept: partialAccept('PartialObjectMetadata') },
    );
    expect(patched.body.kind).to.equal('PartialObjectMetadata');
    const wrong = await s.get(path, {
      accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    });
    expect(wrong.code).to.equal(406);
  });

  it('API-18: OpenAPI v3 documents have a hash in their URL', async () => {
    const index = (await s.get('/openapi/v3')).body;
    const url = index.paths['apis/apps/v1'].serverRelativeURL as string;
    const right = await s.get(url);
    expect(right.code).to.equal(200);
    expect(right.headers['cache-control']).to.match(/immutable/);
    expect(right.headers.etag).to.be.a('string');
    const wrong = await s.get('/openapi/v3/apis/apps/v1?hash=NOPE');
    expect(wrong.code).to.equal(301);
    expect((await s.get('/openapi/v3/apis/nope/v1')).code).to.equal(404);
  });

  it('API-19: a custom kind is in OpenAPI with the extensions that kubectl needs', async () => {
    const group = 's19.example.com';
    await s.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetCrd(group));
    const index = await s.eventually('/openapi/v3', (r) => r.body.paths[`apis/${group}/v1`] !== undefined);
    const document = (await s.get(index.body.paths[`apis/${group}/v1`].serverRelativeURL)).body;
    expect(document.components.schemas).to.have.property('com.example.s19.v1.Widget');
    const patch = document.paths[`/apis/${group}/v1/namespaces/{namespace}/widgets/{name}`].patch;
    expect(patch['x-kubernetes-group-version-kind']).to.deep.equal({ group, version: 'v1', kind: 'Widget' });
    expect(patch.parameters.map((p: Json) => p.name)).to.include('fieldValidation');
    await s.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`);
    const gone = await s.eventually('/openapi/v3', (r) => r.body.paths[`apis/${group}/v1`] === undefined);
    expect(gone.body.paths).to.not.have.property(`apis/${group}/v1`);
  });
});
