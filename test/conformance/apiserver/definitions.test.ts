/** The status of CustomResourceDefinitions, and the defaults of their versions. */
import { expect } from 'chai';
import { conditionOf } from './fixtures.ts';
import { useSubject, type Json, type Reply } from './subject.ts';

const ROOT = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const schema = { openAPIV3Schema: { type: 'object' } };

const definition = (group: string, names: Json, approval?: string): Json => ({
  metadata: {
    name: `${names.plural}.${group}`,
    ...(approval === undefined ? {} : { annotations: { 'api-approved.kubernetes.io': approval } }),
  },
  spec: {
    group,
    scope: 'Namespaced',
    names,
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  },
});

describe('the status of a definition', () => {
  const s = useSubject();
  const run = process.pid.toString(36);
  const A = { plural: 'as', kind: 'A', shortNames: ['aa'], categories: ['all'] };

  const created = async (crd: Json, type: string): Promise<Json> => {
    const made = await s.post(ROOT, crd);
    expect(made.code, made.text).to.equal(201);
    return withCondition(crd.metadata.name, (body) => conditionOf(body, type) !== undefined);
  };
  const withCondition = async (name: string, check: (body: Json) => boolean): Promise<Json> =>
    (await s.eventually(`${ROOT}/${name}`, ({ body }: Reply) => check(body))).body.status;
  const reasonOf = (status: Json, type: string): unknown => {
    const { status: value, reason, message } = conditionOf({ status }, type);
    return [value, reason, message];
  };

  const rows = [
    {
      what: 'a kind',
      names: { plural: 'bs', kind: 'A' },
      reason: 'ListKindConflict',
      message: '"AList" is already in use',
      accepted: { plural: 'bs', kind: '' },
    },
    {
      what: 'the singular and a short name',
      names: { plural: 'cs', kind: 'C', singular: 'a', shortNames: ['aa', 'cc'] },
      reason: 'ShortNamesConflict',
      message: '"aa" is already in use',
      accepted: { plural: 'cs', kind: 'C', listKind: 'CList' },
    },
    {
      what: 'the kind of lists',
      names: { plural: 'ds', kind: 'D', listKind: 'AList' },
      reason: 'ListKindConflict',
      message: '"AList" is already in use',
      accepted: { plural: 'ds', singular: 'd', kind: 'D' },
    },
    {
      what: 'a plural as a short name',
      names: { plural: 'fs', kind: 'F', shortNames: ['as'] },
      reason: 'ShortNamesConflict',
      message: '"as" is already in use',
      accepted: { plural: 'fs', singular: 'f', kind: 'F', listKind: 'FList' },
    },
  ];
  for (const [i, { what, names, reason, message, accepted }] of rows.entries())
    it(`API-150: accepts each name that is free if ${what} is taken`, async () => {
      const group = `names${i}.${run}.example.com`;
      await created(definition(group, A), 'Established');
      const status = await created(definition(group, names), 'Established');
      expect(reasonOf(status, 'NamesAccepted')).to.deep.equal(['False', reason, message]);
      expect(reasonOf(status, 'Established')).to.deep.equal([
        'False',
        'NotAccepted',
        'not all names are accepted',
      ]);
      expect(status.acceptedNames).to.deep.equal(accepted);
    });

  it('API-150: an established kind is served under its accepted names while a new name is taken', async () => {
    const group = `kept.${run}.example.com`;
    await created(definition(group, A), 'Established');
    await created(definition(group, { plural: 'bs', kind: 'B', shortNames: ['bb'] }), 'Established');
    await s.merge(`${ROOT}/bs.${group}`, { spec: { names: { shortNames: ['as'] } } });
    const isTaken = (body: Json): boolean => conditionOf(body, 'NamesAccepted').status === 'False';
    const status = await withCondition(`bs.${group}`, isTaken);
    expect(conditionOf({ status }, 'Established').status).to.equal('True');
    expect(status.acceptedNames.shortNames).to.deep.equal(['bb']);
    await s.eventually(`/apis/${group}/v1`, ({ body }) =>
      body?.resources?.some((r: Json) => r.name === 'bs' && r.shortNames?.[0] === 'bb'),
    );
  });

  it('API-150: names are free again after their definition is gone', async () => {
    const group = `freed.${run}.example.com`;
    await created(definition(group, A), 'Established');
    await created(definition(group, { plural: 'bs', kind: 'A' }), 'Established');
    await s.delete(`${ROOT}/as.${group}`);
    const isFree = (body: Json): boolean => conditionOf(body, 'Established').status === 'True';
    const status = await withCondition(`bs.${group}`, isFree);
    expect(status.acceptedNames).to.deep.equal({ plural: 'bs', singular: 'a', kind: 'A', listKind: 'AList' });
  });

  it('API-150: says whether a group of Kubernetes itself is approved', async () => {
    const type = 'KubernetesAPIApprovalPolicyConformant';
    const [group, url] = [`${run}.k8s.io`, 'https://github.com/x/y/pull/1'];
    const status = await created(definition(group, A, url), type);
    expect(reasonOf(status, type)).to.deep.equal(['True', 'ApprovedAnnotation', `approved in ${url}`]);
    const metadata = { annotations: { 'api-approved.kubernetes.io': 'unapproved, x' } };
    await s.merge(`${ROOT}/as.${group}`, { metadata });
    const later = await withCondition(`as.${group}`, (body) => conditionOf(body, type).status === 'False');
    expect(reasonOf(later, type)).to.deep.equal([
      'False',
      'UnapprovedAnnotation',
      'not approved: "unapproved, x"',
    ]);
  });

  it('API-150: says that all instances are removed while another finalizer keeps it', async () => {
    const group = `ending.${run}.example.com`;
    await created(definition(group, A), 'Established');
    const url = `${ROOT}/as.${group}`;
    await s.merge(url, { metadata: { finalizers: ['example.com/keep'] } });
    await s.delete(url);
    const status = await withCondition(
      `as.${group}`,
      (b) => conditionOf(b, 'Terminating')?.status === 'False',
    );
    expect(reasonOf(status, 'Terminating')).to.deep.equal([
      'False',
      'InstanceDeletionCompleted',
      'removed all instances',
    ]);
    await s.merge(url, { metadata: { finalizers: null } });
  });
});

describe('the defaults of a custom kind in several versions', () => {
  const s = useSubject();

  const version = (name: string, storage: boolean, more: Json = {}): Json => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            default: {},
            properties: {
              common: { type: 'string', default: name },
              [`only${name}`]: { type: 'string', default: name },
              ...more,
            },
          },
        },
      },
    },
  });

  it('API-160: are those of the stored version, as far as the requested one has the members', async () => {
    const group = `defaults-${process.pid.toString(36)}.example.com`;
    const namespace = await s.namespace();
    const at = (name: string): string => `/apis/${group}/${name}/namespaces/${namespace}/ws`;
    const w = (name: string, in_: string): Json => ({
      apiVersion: `${group}/${in_}`,
      kind: 'W',
      metadata: { name },
    });
    const specs = async (name: string): Promise<Json> => [
      (await s.get(`${at('v1')}/${name}`)).body.spec,
      (await s.get(`${at('v2')}/${name}`)).body.spec,
    ];
    const crd = definition(group, { plural: 'ws', kind: 'W' });
    crd.spec.versions = [version('v1', true), version('v2', false)];
    await s.post(ROOT, crd);

    const first = await s.eventuallyPost(at('v1'), w('first', 'v1'));
    expect(first.body.spec).to.deep.equal({ common: 'v1', onlyv1: 'v1' });
    expect(await specs('first')).to.deep.equal([{ common: 'v1', onlyv1: 'v1' }, { common: 'v1' }]);

    const second = await s.eventuallyPost(at('v2'), w('second', 'v2'));
    expect(second.body.spec).to.deep.equal({ common: 'v2' });
    expect(await specs('second')).to.deep.equal([{ common: 'v2', onlyv1: 'v1' }, { common: 'v2' }]);

    // Objects that are stored in the former storage version have its new defaults.
    const live = (await s.get(`${ROOT}/ws.${group}`)).body;
    const late = (value: string): Json => ({ late: { type: 'string', default: value } });
    live.spec.versions = [version('v1', false, late('1')), version('v2', true, late('2'))];
    expect((await s.put(`${ROOT}/ws.${group}`, live)).code).to.equal(200);
    await s.eventually(`${at('v2')}/first`, ({ body }) => body?.spec?.late === '1');
    await s.eventually(`${at('v1')}/first`, ({ body }) => body?.spec?.late === '1');
    expect(await specs('first')).to.deep.equal([
      { common: 'v1', onlyv1: 'v1', late: '1' },
      { common: 'v1', late: '1' },
    ]);
    // The next write stores it in the other version, which does not have the members of the former one.
    await s.merge(`${at('v1')}/first`, { metadata: { labels: { a: 'b' } } });
    expect(await specs('first')).to.deep.equal([
      { common: 'v1', late: '1' },
      { common: 'v1', late: '1', onlyv2: 'v2' },
    ]);
  });

  it('API-160: a default status is there in the answer to the creation, and in that of a dry run', async () => {
    const group = `status-${process.pid.toString(36)}.example.com`;
    const root = `/apis/${group}/v1/namespaces/${await s.namespace()}/ws`;
    const status = { type: 'object', default: { phase: 'New' }, properties: { phase: { type: 'string' } } };
    const crd = definition(group, { plural: 'ws', kind: 'W' });
    crd.spec.versions[0].schema = { openAPIV3Schema: { type: 'object', properties: { status } } };
    crd.spec.versions[0].subresources = { status: {} };
    await s.post(ROOT, crd);
    const sent = (name: string): Json => ({
      apiVersion: `${group}/v1`,
      kind: 'W',
      metadata: { name },
      status: { phase: 'Sent' },
    });
    const made = await s.eventuallyPost(root, sent('w'));
    const tried = await s.post(`${root}?dryRun=All`, sent('tried'));
    const read = await s.get(`${root}/w`);
    for (const { body } of [made, tried, read]) expect(body.status).to.deep.equal({ phase: 'New' });
  });
});
