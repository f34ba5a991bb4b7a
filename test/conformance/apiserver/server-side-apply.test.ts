/** Server-side apply and managedFields: scenarios API-103 to API-123. */
import { expect } from 'chai';
import { causesOf, MERGE, refused, succeeded } from './assertions.ts';
import { useSubject, type Json, type Reply } from './subject.ts';

/** `manager operation[ subresource]` → fieldsV1. */
const ownersOf = (object: Json): Json =>
  Object.fromEntries(
    ((object['metadata'].managedFields ?? []) as Json[]).map((entry) => [
      [entry['manager'], entry['operation'], ...(entry['subresource'] ? [entry['subresource']] : [])].join(
        ' ',
      ),
      entry['fieldsV1'],
    ]),
  );
const entryOf = (object: Json, manager: string): Json =>
  ((object['metadata'].managedFields ?? []) as Json[]).find((entry) => entry['manager'] === manager) ?? {};
const data = (...names: string[]): Json => ({
  'f:data': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
});

describe('server-side apply', function () {
  this.timeout(60_000);
  const subject = useSubject();
  const send = (path: string, body: unknown, type = MERGE): Promise<Reply> =>
    subject.request('PATCH', path, { body, type });
  let namespace: string;
  let cm: string;

  beforeEach(async () => {
    namespace = await subject.namespace();
    cm = `/api/v1/namespaces/${namespace}/configmaps/cm`;
  });

  const configMap = (values?: Json, metadata: Json = {}): Json => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cm', ...metadata },
    ...(values ? { data: values } : {}),
  });
  const apply = (manager: string, values?: Json, query = ''): Promise<Reply> =>
    subject.apply(cm, configMap(values), manager, query);
  const update = (manager: string, values: Json): Promise<Reply> =>
    send(`${cm}?fieldManager=${manager}`, { data: values });
  const live = async (): Promise<Json> => succeeded(await subject.get(cm)).body;

  it('API-103: a new object is owned by its applier', async () => {
    const answer = await apply('m1', { a: '1' });
    expect(answer.code).to.equal(201);
    const { time: _, ...entry } = entryOf(answer.body, 'm1');
    expect(entry).to.deep.equal({
      manager: 'm1',
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: data('a'),
    });
  });

  it('API-104: applying the same again is not a write', async () => {
    const first = succeeded(await apply('m1', { a: '1' })).body;
    const second = await apply('m1', { a: '1' });
    expect(second.code).to.equal(200);
    expect(second.body).to.deep.equal(first);
  });

  it('API-105: a key that is no longer applied is removed', async () => {
    await apply('m1', { a: '1', b: '2' });
    const { body } = succeeded(await apply('m1', { a: '1' }));
    expect(body['data']).to.deep.equal({ a: '1' });
    expect(ownersOf(body)).to.deep.equal({ 'm1 Apply': data('a') });
  });

  it('API-106: applying another value is a conflict', async () => {
    await apply('m1', { a: '1' });
    const body = refused(
      await apply('m2', { a: '2' }),
      409,
      'Apply failed with 1 conflict: conflict with "m1": .data.a',
    );
    expect(body['reason']).to.equal('Conflict');
    expect(body['details'].causes).to.deep.equal([
      { reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.a' },
    ]);
  });

  it('API-107: applying the same value shares its ownership, in an entry without time', async () => {
    await apply('m1', { a: '1' });
    const { body } = succeeded(await apply('m2', { a: '1' }));
    expect(ownersOf(body)).to.deep.equal({ 'm1 Apply': data('a'), 'm2 Apply': data('a') });
    expect(entryOf(body, 'm1')).to.have.property('time');
    expect(entryOf(body, 'm2')).to.not.have.property('time');
  });

  it('API-108: a shared value can only be changed by force', async () => {
    await apply('m1', { a: '1' });
    await apply('m2', { a: '1', b: '1' });
    refused(await apply('m1', { a: '9' }), 409, 'Apply failed with 1 conflict: conflict with "m2": .data.a');
    const { body } = succeeded(await apply('m1', { a: '9' }, '&force=true'));
    expect(body['data']).to.deep.equal({ a: '9', b: '1' });
    expect(ownersOf(body)).to.deep.equal({ 'm1 Apply': data('a'), 'm2 Apply': data('b') });
  });

  it('API-109: a shared key stays when one owner gives it up', async () => {
    await apply('m1', { a: '1' });
    await apply('m2', { a: '1' });
    const { body } = succeeded(await apply('m1'));
    expect(body['data']).to.deep.equal({ a: '1' });
    expect(ownersOf(body)).to.deep.equal({ 'm2 Apply': data('a') });
  });

  it('API-110, API-111: an update takes ownership, and conflicts name all managers', async () => {
    await apply('m2', { a: '1', c: '3' });
    const { body } = succeeded(await update('upd', { a: '2', u: '1' }));
    expect(ownersOf(body)).to.deep.equal({ 'm2 Apply': data('c'), 'upd Update': data('a', 'u') });
    refused(
      await apply('m3', { a: 'x', c: 'x', u: 'x' }),
      409,
      'Apply failed with 3 conflicts: conflicts with "m2":\n- .data.c\nconflicts with "upd" using v1:\n- .data.a\n- .data.u',
    );
  });

  it('API-112: needs a field manager, and rejects managedFields in the body', async () => {
    const type = 'application/apply-patch+yaml';
    expect(causesOf(await send(cm, configMap(), type))).to.deep.equal([
      'fieldManager: Required value: is required for apply patch',
    ]);
    await apply('m1', { a: '1' });
    expect(causesOf(await send(`${cm}?force=true`, {}, MERGE))).to.deep.equal([
      'force: Forbidden: may not be specified for non-apply patch',
    ]);
    const body = configMap({}, { managedFields: [] });
    refused(await subject.apply(cm, body, 'm1'), 400, 'metadata.managedFields must be nil');
  });

  it('API-113: a value of the wrong type fails with a message', async () => {
    const who = '(/cm; /v1, Kind=ConfigMap)';
    refused(
      await apply('m', { k: 5 }),
      500,
      `failed to create typed patch object ${who}: .data.k: expected string, got &value.valueUnstructured{Value:5}`,
    );
    refused(
      await subject.apply(cm, { ...configMap(), foo: 1 }, 'm'),
      500,
      `failed to create typed patch object ${who}: .foo: field not declared in schema`,
    );
  });

  it('API-118: managedFields are cleared by an empty list or entry, and kept otherwise', async () => {
    const set = (managedFields: unknown): Promise<Reply> => send(cm, { metadata: { managedFields } });
    for (const [sent, isKept] of [
      [null, true],
      [[], false],
      [[{}], false],
    ] as const) {
      await apply('m1', { a: '1' }, '&force=true');
      const { body } = succeeded(await set(sent));
      expect(Object.keys(ownersOf(body)), JSON.stringify(sent)).to.deep.equal(isKept ? ['m1 Apply'] : []);
    }
  });

  it('API-119: fields of an object without managers belong to before-first-apply', async () => {
    await apply('m1', { a: '1' });
    succeeded(await send(cm, { metadata: { managedFields: [{}] } }));
    refused(
      await apply('m2', { a: '2' }),
      409,
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    );
  });

  it('API-120: of eleven updaters the oldest are merged into one', async () => {
    succeeded(await subject.post(`${cm.slice(0, -3)}?fieldManager=m0`, configMap({ k0: 'x' })));
    for (let i = 1; i <= 10; i++) succeeded(await update(`m${i}`, { [`k${i}`]: 'x' }));
    const managers = ((await live())['metadata'].managedFields as Json[]).map(
      (entry) => entry['manager'] as string,
    );
    expect(managers).to.have.length(10);
    expect(managers).to.include('ancient-changes');
  });

  it('API-121: kubectl takes over from client-side apply and rewrites its annotation', async () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const first = configMap({ a: '1' });
    const annotated = {
      ...first,
      metadata: { name: 'cm', annotations: { [annotation]: JSON.stringify(first) } },
    };
    succeeded(await subject.post(`${cm.slice(0, -3)}?fieldManager=kubectl-client-side-apply`, annotated));
    expect((await apply('other', { a: '2' })).code).to.equal(409);
    const { body } = succeeded(await apply('kubectl', { a: '2' }));
    expect(body['data']).to.deep.equal({ a: '2' });
    expect(JSON.parse(body['metadata'].annotations[annotation] as string)).to.deep.include({
      data: { a: '2' },
    });
  });

  it('API-123: a dry run stores nothing', async () => {
    const created = await apply('m1', { a: '1' }, '&dryRun=All');
    expect(created.code).to.equal(201);
    expect((await subject.get(cm)).code).to.equal(404);
    await apply('m1', { a: '1' });
    expect((await apply('m1', { a: '2' }, '&dryRun=All')).body['data']).to.deep.equal({ a: '2' });
    expect((await live())['data']).to.deep.equal({ a: '1' });
  });

  describe('of a deployment', () => {
    const container = (name: string, more: object = {}): Json => ({ name, image: `i:${name}`, ...more });
    const deployment = (spec: Json, more: Json = {}): Json => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec,
      ...more,
    });
    const pods = (containers: Json[]): Json => ({ template: { spec: { containers } } });
    const full = deployment({
      replicas: 2,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container('c')] } },
    });
    const path = (): string => `/apis/apps/v1/namespaces/${namespace}/deployments/d`;
    const containersOf = (answer: Reply): Json[] =>
      succeeded(answer).body['spec'].template.spec.containers as Json[];

    it('API-20: an update owns the fields of a new object and their containers', async () => {
      const { body } = succeeded(await subject.post(`${path().slice(0, -2)}?fieldManager=c`, full));
      const fields = ownersOf(body)['c Update'];
      expect(fields['f:spec']['f:template']['f:spec']['f:containers']).to.deep.equal({
        'k:{"name":"c"}': {
          '.': {},
          'f:image': {},
          'f:imagePullPolicy': {},
          'f:name': {},
          'f:resources': {},
          'f:terminationMessagePath': {},
          'f:terminationMessagePolicy': {},
        },
      });
      expect(fields['f:spec']['f:strategy']).to.deep.equal({
        'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} },
        'f:type': {},
      });
      expect(fields['f:spec']).to.not.have.property('.');
    });

    it('API-114: two managers add containers and variables, each removes its own', async () => {
      succeeded(await subject.apply(path(), full, 'a'));
      const second = deployment(pods([container('side'), { name: 'c', env: [{ name: 'E', value: '1' }] }]));
      const merged = containersOf(await subject.apply(path(), second, 'b'));
      expect(merged.map((c) => c['name'])).to.deep.equal(['side', 'c']);
      expect(merged[1]).to.deep.include({ image: 'i:c', env: [{ name: 'E', value: '1' }] });
      const left = containersOf(await subject.apply(path(), deployment(pods([{ name: 'c' }])), 'b'));
      expect(left.map((c) => c['name'])).to.deep.equal(['c']);
      expect(left[0]).to.not.have.property('env');
    });

    it('API-115: conflicts inside list maps, in atomic selectors and lists', async () => {
      succeeded(await subject.apply(path(), full, 'a'));
      const other = deployment({
        selector: { matchLabels: { a: 'c' } },
        ...pods([container('c', { image: 'other' })]),
      });
      refused(
        await subject.apply(path(), other, 'b'),
        409,
        'Apply failed with 2 conflicts: conflicts with "a":\n- .spec.selector\n- .spec.template.spec.containers[name="c"].image',
      );
      succeeded(await subject.apply(path(), deployment(pods([{ name: 'c', args: ['x'] }])), 'b'));
      refused(
        await subject.apply(path(), deployment(pods([{ name: 'c', args: ['x', 'y'] }])), 'd'),
        409,
        'Apply failed with 1 conflict: conflict with "b": .spec.template.spec.containers[name="c"].args',
      );
    });

    it('API-113: two items with the same key are an error', async () => {
      refused(
        await subject.apply(path(), deployment(pods([container('c'), container('c')])), 'a'),
        500,
        'failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.template.spec.containers: duplicate entries for key [name="c"]',
      );
    });

    it('API-116: status has its own endpoint and its own entry', async () => {
      const { body } = succeeded(await subject.apply(path(), { ...full, status: { replicas: 7 } }, 'a'));
      expect(body['status']).to.deep.equal({});
      expect(ownersOf(body)['a Apply']).to.not.have.property('f:status');
      const status = deployment({}, { status: { replicas: 7 } });
      const answer = succeeded(await subject.apply(`${path()}/status`, status, 'a'));
      expect(ownersOf(answer.body)['a Apply status']).to.deep.equal({ 'f:status': { 'f:replicas': {} } });
      const missing = { ...status, metadata: { name: 'zz' } };
      expect((await subject.apply(`${path().slice(0, -1)}zz/status`, missing, 'a')).code).to.equal(404);
    });

    it('API-117: scaling takes over the replicas', async () => {
      succeeded(await subject.apply(path(), full, 'a'));
      succeeded(await send(`${path()}/scale?fieldManager=s`, { spec: { replicas: 5 } }));
      const body = refused(await subject.apply(path(), full, 'a'), 409, /\.spec\.replicas$/);
      expect(body['details'].causes[0].message).to.equal(
        'conflict with "s" with subresource "scale" using apps/v1',
      );
    });
  });
});
