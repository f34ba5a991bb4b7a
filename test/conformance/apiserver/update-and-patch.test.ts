/** Replacing objects, and the three kinds of patch: scenarios API-83 to API-102. */
import { expect } from 'chai';
import { causesOf, JSON_PATCH, MERGE, refused, STRATEGIC, succeeded } from './assertions.ts';
import { useSubject, type Json, type Reply } from './subject.ts';

const STALE = 'the object has been modified; please apply your changes to the latest version and try again';
const REJECTED = 'the server rejected our request due to an error in our request';

const container = (name: string, more: object = {}): Json => ({ name, image: `i:${name}`, ...more });
const deployment = (more: Json = {}): Json => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', labels: { a: 'b' } },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [
          container('a', {
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          }),
          container('b'),
          container('c'),
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    },
  },
  ...more,
});

describe('updates and patches', function () {
  this.timeout(60_000);
  const subject = useSubject();
  const send = (path: string, body: unknown, type = MERGE): Promise<Reply> =>
    subject.request('PATCH', path, { body, type });
  let core: string;
  let apps: string;
  let namespace: string;

  beforeEach(async () => {
    namespace = await subject.namespace();
    core = `/api/v1/namespaces/${namespace}`;
    apps = `/apis/apps/v1/namespaces/${namespace}`;
  });

  const create = async (path: string, object: Json): Promise<Json> =>
    succeeded(await subject.post(path, object)).body;
  const configMap = (data: Json = { a: '1', b: '2' }, metadata: Json = {}): Promise<Json> =>
    create(`${core}/configmaps`, { metadata: { name: 'cm', ...metadata }, data });
  const cm = (): string => `${core}/configmaps/cm`;
  const generation = (answer: Reply): unknown => succeeded(answer).body['metadata'].generation;

  it('API-83: PUT of an unchanged object is not a write', async () => {
    const object = await configMap();
    const { body } = succeeded(await subject.put(cm(), object));
    expect(body['metadata'].resourceVersion).to.equal(object['metadata'].resourceVersion);
  });

  it('API-84: PUT of a stale object is a conflict', async () => {
    const object = await configMap();
    succeeded(await send(cm(), { data: { c: '3' } }));
    const body = refused(
      await subject.put(cm(), object),
      409,
      `Operation cannot be fulfilled on configmaps "cm": ${STALE}`,
    );
    expect(body['reason']).to.equal('Conflict');
    expect(body['details']).to.deep.equal({ name: 'cm', kind: 'configmaps' });
  });

  it('API-85: a config map may be replaced without a resource version, but not with an invalid one', async () => {
    await configMap();
    const put = (metadata: Json): Promise<Reply> =>
      subject.put(cm(), { metadata: { name: 'cm', ...metadata }, data: { z: '1' } });
    succeeded(await put({}));
    succeeded(await put({ resourceVersion: '0' }));
    expect((await put({ resourceVersion: 'abc' })).code).to.equal(500);
  });

  it('API-86: a lease may not be replaced without a resource version', async () => {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    await create(leases, { metadata: { name: 'l' } });
    const answer = await subject.put(`${leases}/l`, { metadata: { name: 'l' } });
    const body = refused(
      answer,
      422,
      'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
    expect(body['details'].kind).to.equal('leases');
  });

  it('API-87: PUT with another uid, name or namespace is rejected', async () => {
    await configMap();
    const put = (metadata: Json): Promise<Reply> => subject.put(cm(), { metadata, data: {} });
    refused(
      await put({ name: 'cm', uid: 'x' }),
      409,
      /Precondition failed: UID in precondition: x, UID in object meta: /,
    );
    refused(
      await put({ name: 'zz' }),
      400,
      'the name of the object (zz) does not match the name on the URL (cm)',
    );
    refused(
      await put({}),
      400,
      'the name of the object (cm based on URL) was undeterminable: name must be provided',
    );
    refused(
      await put({ name: 'cm', namespace: 'other' }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  });

  it('API-88: PUT creates leases and roles, but not config maps', async () => {
    refused(await subject.put(cm(), { metadata: { name: 'cm' } }), 404, 'configmaps "cm" not found');
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/l`;
    expect((await subject.put(lease, { metadata: { name: 'l' } })).code).to.equal(201);
    const role = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles/r`;
    expect((await subject.put(role, { metadata: { name: 'r' }, rules: [] })).code).to.equal(201);
  });

  it('API-89: only changes of the spec raise the generation', async () => {
    await create(`${apps}/deployments`, deployment());
    const path = `${apps}/deployments/d`;
    expect(generation(await send(path, { metadata: { labels: { c: 'd' } } }))).to.equal(1);
    expect(generation(await send(path, { spec: { replicas: 2 } }))).to.equal(2);
    const { body } = succeeded(await send(path, { status: { replicas: 7 } }));
    expect(body['status']).to.deep.equal({});
    expect(body['metadata'].generation).to.equal(2);
  });

  it('API-90: an immutable config map has immutable data, but not labels', async () => {
    await create(`${core}/configmaps`, { metadata: { name: 'cm' }, data: { a: '1' }, immutable: true });
    const answer = await send(cm(), { data: { a: '2' } });
    expect(answer.code).to.equal(422);
    expect(causesOf(answer)).to.deep.equal(['data: Forbidden: field is immutable when `immutable` is set']);
    succeeded(await send(cm(), { metadata: { labels: { a: 'b' } } }));
  });

  it('API-91: some fields are immutable', async () => {
    await create(`${core}/secrets`, { metadata: { name: 's' } });
    expect(causesOf(await send(`${core}/secrets/s`, { type: 'x/y' }))).to.deep.equal([
      'type: Invalid value: "x/y": field is immutable',
    ]);
    await create(`${apps}/deployments`, deployment());
    const selector = { matchLabels: { a: 'c' } };
    const template = { metadata: { labels: { a: 'c' } } };
    const answer = await send(`${apps}/deployments/d`, { spec: { selector, template } });
    expect(answer.code).to.equal(422);
    expect(causesOf(answer)).to.deep.equal([
      'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
    ]);
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
    await create(rbac, { metadata: { name: 'b' }, roleRef });
    const binding = await send(`${rbac}/b`, { roleRef: { name: 'q' } });
    expect(causesOf(binding)[0]).to.match(/^roleRef: Invalid value: .*: cannot change roleRef$/);
  });

  it('API-92: a merge patch adds, removes by null, and merges deeply', async () => {
    await configMap({ a: '1', b: '2' }, { labels: { x: 'y' } });
    const { body } = succeeded(
      await send(cm(), { data: { a: null, c: '3' }, metadata: { labels: { z: 'q' } } }),
    );
    expect(body['data']).to.deep.equal({ b: '2', c: '3' });
    expect(body['metadata'].labels).to.deep.equal({ x: 'y', z: 'q' });
  });

  it('API-93: a merge patch may check the resource version, but not rename or delete', async () => {
    const object = await configMap();
    succeeded(await send(cm(), { data: { c: '3' } }));
    const patch = (metadata: Json): Promise<Reply> => send(cm(), { metadata });
    const { resourceVersion } = object['metadata'];
    refused(
      await patch({ resourceVersion }),
      409,
      `Operation cannot be fulfilled on configmaps "cm": ${STALE}`,
    );
    refused(
      await patch({ name: 'zz' }),
      400,
      'the name of the object (zz) does not match the name on the URL (cm)',
    );
    for (const [member, value] of [
      ['uid', 'x'],
      ['deletionTimestamp', '2020-01-01T00:00:00Z'],
    ] as const) {
      const answer = await patch({ [member]: value });
      expect(answer.code).to.equal(422);
      expect(causesOf(answer)[0]).to.match(
        new RegExp(`^metadata\\.${member}: Invalid value: .*: field is immutable$`),
      );
    }
  });

  it('API-94: a merge patch must be an object', async () => {
    await configMap();
    refused(await send(cm(), 'null'), 400, 'Invalid JSON Patch');
    refused(await send(cm(), '[]'), 400, 'error decoding patch: …');
    refused(await send(cm(), '{bad'), 400, 'error decoding patch: …');
    expect((await send(cm(), '{}', 'application/json')).code).to.equal(415);
  });

  it('API-95: a JSON patch adds, copies, moves, removes, and replaces missing values', async () => {
    await configMap();
    const { body } = succeeded(
      await send(
        cm(),
        [
          { op: 'add', path: '/data/c', value: '3' },
          { op: 'copy', from: '/data/a', path: '/data/d' },
          { op: 'move', from: '/data/b', path: '/data/e' },
          { op: 'remove', path: '/data/a' },
          { op: 'replace', path: '/data/f', value: '6' },
        ],
        JSON_PATCH,
      ),
    );
    expect(body['data']).to.deep.equal({ c: '3', d: '1', e: '2', f: '6' });
  });

  for (const [title, operation] of [
    ['a test that fails', { op: 'test', path: '/data/a', value: '2' }],
    ['removing a missing value', { op: 'remove', path: '/data/zz' }],
    ['an unknown operation', { op: 'bogus', path: '/data/a' }],
  ] as const) {
    it(`API-96: a JSON patch is rejected because of ${title}`, async () => {
      await configMap();
      const body = refused(await send(cm(), [operation], JSON_PATCH), 422, REJECTED);
      expect(body['reason']).to.equal('Invalid');
      expect(body['details']).to.deep.equal({});
    });
  }

  it('API-97: a missing object cannot be patched', async () => {
    for (const [type, body] of [
      ['application/merge-patch+json', {}],
      [JSON_PATCH, []],
      [STRATEGIC, {}],
    ] as const) {
      refused(await send(cm(), body, type), 404, 'configmaps "cm" not found');
    }
  });

  it('API-98: concurrent patches without a resource version all succeed', async () => {
    await configMap({});
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(cm(), { data: { [`k${i}`]: 'x' } })),
    );
    expect(answers.map((answer) => answer.code)).to.deep.equal(Array.from({ length: 20 }, () => 200));
    const { body } = succeeded(await subject.get(cm()));
    expect(Object.keys(body['data'])).to.have.length(20);
  });

  describe('strategic', () => {
    const patched = async (spec: Json): Promise<Json> => {
      const path = `${apps}/deployments/d`;
      return succeeded(await send(path, { spec: { template: { spec } } }, STRATEGIC)).body['spec'].template
        .spec;
    };
    const names = (spec: Json): string[] => (spec['containers'] as Json[]).map((c) => c['name'] as string);
    beforeEach(() => create(`${apps}/deployments`, deployment()));

    it('API-99: merges containers and environment by name, new ones first', async () => {
      const spec = await patched({
        containers: [
          container('z'),
          {
            name: 'a',
            env: [
              { name: 'B', value: '9' },
              { name: 'C', value: '3' },
            ],
          },
        ],
      });
      expect(names(spec)).to.deep.equal(['z', 'a', 'b', 'c']);
      expect(spec['containers'][1].env).to.deep.equal([
        { name: 'A', value: '1' },
        { name: 'B', value: '9' },
        { name: 'C', value: '3' },
      ]);
    });
    it('API-100: deletes an item', async () => {
      expect(names(await patched({ containers: [{ name: 'b', $patch: 'delete' }] }))).to.deep.equal([
        'a',
        'c',
      ]);
    });
    it('API-100: replaces a list', async () => {
      const spec = await patched({ containers: [{ $patch: 'replace' }, container('z')] });
      expect(names(spec)).to.deep.equal(['z']);
    });
    it('API-100: sets the order', async () => {
      const order = [{ name: 'c' }, { name: 'z' }, { name: 'a' }];
      const spec = await patched({ '$setElementOrder/containers': order, containers: [container('z')] });
      expect(names(spec)).to.deep.equal(['b', 'c', 'z', 'a']);
    });
    it('API-100: keeps only the named keys', async () => {
      const volumes = [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }];
      const spec = await patched({ volumes });
      expect(spec['volumes']).to.deep.equal([{ name: 'v', hostPath: { path: '/x', type: '' } }]);
    });
    it('API-100: adds to and deletes from the finalizers', async () => {
      const path = `${apps}/deployments/d`;
      const metadata = (patch: Json): Promise<Reply> => send(path, { metadata: patch }, STRATEGIC);
      succeeded(await metadata({ finalizers: ['a/a', 'b/b'] }));
      const { body } = succeeded(await metadata({ '$deleteFromPrimitiveList/finalizers': ['a/a'] }));
      expect(body['metadata'].finalizers).to.deep.equal(['b/b']);
    });
    it('fails for an item without key and for an unknown directive', async () => {
      const patch = (item: Json): Promise<Reply> =>
        send(`${apps}/deployments/d`, { spec: { template: { spec: { containers: [item] } } } }, STRATEGIC);
      const body = refused(
        await patch({ image: 'x' }),
        500,
        'map: map[image:x] does not contain declared merge key: name',
      );
      expect(body).to.not.have.property('reason');
      refused(await patch({ name: 'a', $patch: 'bogus' }), 500, 'unknown patch type: bogus in map: …');
    });
  });

  it('API-102: merges ports of a service by number, but applies them by number and protocol', async () => {
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 80, protocol: 'UDP' },
    ];
    await create(`${core}/services`, { metadata: { name: 's' }, spec: { ports } });
    const path = `${core}/services/s`;
    const { body } = succeeded(await send(path, { spec: { ports: [{ port: 80, name: 'q' }] } }, STRATEGIC));
    expect(body['spec'].ports.map((port: Json) => [port['name'], port['protocol']])).to.deep.include([
      'q',
      'TCP',
    ]);
    const applied = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's2' },
      spec: { ports },
    };
    const service = succeeded(await subject.apply(`${core}/services/s2`, applied, 'm')).body;
    expect(Object.keys(service['metadata'].managedFields[0].fieldsV1['f:spec']['f:ports'])).to.have.members([
      'k:{"port":80,"protocol":"TCP"}',
      'k:{"port":80,"protocol":"UDP"}',
    ]);
  });
});
