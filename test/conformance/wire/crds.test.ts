import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { loadCrds } from '../../../src/api/crds.ts';
import { definitions } from '../../../src/api/kinds.ts';
import { API_VERSION, GROUP, VERSION } from '../../../src/api/labels.ts';
import {
  subjectKubeconfig,
  wireClient,
  type Answer,
  type Json,
  type WireClient,
} from '../../support/wire-client.ts';
import { fixtures, mistakes } from './fixtures.ts';
import { leftOut } from '../../support/skip.ts';
import { eventually } from '../../support/waiting.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ROOT = `/apis/${GROUP}/${VERSION}`;
const rootOf = (plural: string): string => {
  const kind = definitions.find((one) => one.kind.plural === plural)?.kind;
  return kind ? `/apis/${kind.group}/${kind.version}` : ROOT;
};

/** Repeats until the answer matches; servers publish new kinds with a small delay. */
async function until(ask: () => Promise<Answer>, fits: (answer: Answer) => boolean): Promise<Answer> {
  let answer: Answer | undefined;
  const why = (): string => `; still ${answer?.status}: ${JSON.stringify(answer?.body).slice(0, 500)}`;
  const look = async (): Promise<Answer | false> => {
    answer = await ask();
    return fits(answer) && answer;
  };
  return eventually('the server answers with what it has stored', look, { why });
}

const isEstablished = ({ body }: Answer): boolean =>
  (body['status']?.conditions ?? []).some((c: Json) => c['type'] === 'Established' && c['status'] === 'True');

/** What any API server must do with our CRDs. */
export function crdConformance(open: () => WireClient): void {
  let client: WireClient;
  const namespace = `crds-${randomUUID().slice(0, 8)}`;
  const path = (plural: string, rest = ''): string =>
    `${rootOf(plural)}/namespaces/${namespace}/${plural}${rest}`;
  const named = (object: Json): Json => ({ ...object, metadata: { name: `x-${randomUUID()}`, namespace } });
  const strictly = (plural: string, object: Json): Promise<Answer> =>
    client.call('POST', path(plural, '?fieldValidation=Strict'), { body: object });

  before(async function () {
    this.timeout(30_000);
    client = open();
    for (const crd of loadCrds()) {
      const target = `${CRDS}/${crd.metadata.name}`;
      const type = 'application/apply-patch+yaml';
      const applied = await client.call('PATCH', `${target}?fieldManager=espalier&force=true`, {
        body: crd,
        type,
      });
      expect(applied.status, JSON.stringify(applied.body)).to.be.oneOf([200, 201]);
      expect(applied.warnings).to.deep.equal([]);
      await until(() => client.call('GET', target), isEstablished);
    }
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    expect((await client.call('POST', '/api/v1/namespaces', { body })).status).to.equal(201);
    for (const { kind } of definitions) {
      await until(
        () => client.call('GET', path(kind.plural)),
        ({ status }) => status === 200,
      );
    }
  });

  after(async () => {
    await client?.call('DELETE', `/api/v1/namespaces/${namespace}`);
    await client?.close();
  });

  it('changes nothing when the CRDs are written again', async () => {
    for (const crd of loadCrds()) {
      const target = `${CRDS}/${crd.metadata.name}`;
      const before = await client.call('GET', target);
      const { status, body } = await client.call('PATCH', target, {
        body: crd,
        type: 'application/merge-patch+json',
      });
      expect(status).to.equal(200);
      expect(body['metadata'].generation).to.equal(before.body['metadata'].generation);
    }
  });

  it('reports no problems of the schemas', async () => {
    for (const crd of loadCrds()) {
      const { body } = await client.call('GET', `${CRDS}/${crd.metadata.name}`);
      const complaints = body['status'].conditions.filter(
        (c: Json) => c['type'] === 'NonStructuralSchema' || c['status'] !== 'True',
      );
      expect(complaints).to.deep.equal([]);
    }
  });

  it('lists all kinds with short names and subresources', async () => {
    for (const { kind, singular, shortNames, statusSubresource } of definitions) {
      const { body } = await until(
        () => client.call('GET', rootOf(kind.plural)),
        (answer) => answer.body['resources']?.some((r: Json) => r['name'] === kind.plural) === true,
      );
      const resources = new Map((body['resources'] as Json[]).map((r) => [r['name'] as string, r]));
      const resource = resources.get(kind.plural);
      expect(resource, kind.plural).to.include({ kind: kind.kind, namespaced: true, singularName: singular });
      expect(resource?.['shortNames'], kind.plural).to.deep.equal([...shortNames]);
      expect(resources.has(`${kind.plural}/status`), `${kind.plural}/status`).to.equal(statusSubresource);
    }
  });

  it('prints the columns', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    for (const { kind, columns } of definitions) {
      const { body } = await client.call('GET', path(kind.plural), { accept });
      const shown = (body['columnDefinitions'] as Json[]).map((c) => c['name'] as string);
      const expected = ['Name', ...columns.map(({ name }) => name)];
      expect(shown, kind.plural).to.deep.equal(columns.length === 0 ? ['Name', 'Age'] : expected);
    }
  });

  it('explains the fields', async () => {
    const { body } = await until(
      () => client.call('GET', `/openapi/v3${ROOT}`),
      ({ status }) => status === 200,
    );
    const schemas = Object.entries(body['components'].schemas as Record<string, Json>);
    const installation = schemas.find(([name]) => name.endsWith('.Installation'))?.[1];
    expect(installation?.['properties'].spec.properties.blueprint.description).to.equal(
      'Blueprint to render.',
    );
  });

  for (const { title, plural, object } of fixtures) {
    it(`accepts ${title} and loses nothing`, async () => {
      const created = await strictly(plural, named(object));
      expect(created.status, JSON.stringify(created.body)).to.equal(201);
      let stored = created.body;

      const hasStatus = definitions.find(({ kind }) => kind.plural === plural)?.statusSubresource;
      if (hasStatus && object['status'] !== undefined) {
        expect(stored['status'], 'status in a create').to.equal(undefined);
        const url = path(plural, `/${stored['metadata'].name}/status?fieldValidation=Strict`);
        const written = await client.call('PUT', url, { body: { ...stored, status: object['status'] } });
        expect(written.status, JSON.stringify(written.body)).to.equal(200);
        stored = written.body;
      }
      for (const [field, value] of Object.entries(object)) expect(stored[field], field).to.deep.equal(value);
    });
  }

  for (const { title, plural, object, field } of mistakes) {
    it(`rejects ${title}`, async () => {
      const { status, body } = await strictly(plural, named(object));
      expect(status, JSON.stringify(body)).to.equal(422);
      expect((body['details'].causes as Json[]).map((cause) => cause['field'])).to.include(field);
    });
  }

  it('reports and drops unknown fields', async () => {
    const object = named({ apiVersion: API_VERSION, kind: 'Target', spec: { type: 't', colour: 'red' } });
    expect((await strictly('targets', object)).status).to.equal(400);
    const { status, warnings, body } = await client.call('POST', path('targets', '?fieldValidation=Warn'), {
      body: object,
    });
    expect(status).to.equal(201);
    expect(warnings).to.deep.equal(['unknown field \\"spec.colour\\"']);
    expect(body['spec']).to.deep.equal({ type: 't' });
  });

  it('treats null in an optional field as absent', async () => {
    const imports = { data: null, targets: [{ name: 't', targets: null }] };
    const spec = { context: null, blueprint: { inline: { filesystem: {} } }, imports };
    const object = named({ apiVersion: API_VERSION, kind: 'Installation', spec });
    const { status, body } = await strictly('installations', object);
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body['spec']).to.deep.equal({ blueprint: spec.blueprint, imports: { targets: [{ name: 't' }] } });
  });

  it('rejects a change of the type of a deploy item', async () => {
    const object = named({ apiVersion: API_VERSION, kind: 'DeployItem', spec: { type: 'a' } });
    const { body: stored } = await strictly('deployitems', object);
    const url = path('deployitems', `/${stored['metadata'].name}`);
    const same = await client.call('PUT', url, { body: { ...stored, spec: { type: 'a', timeout: '1m' } } });
    expect(same.status).to.equal(200);
    const other = await client.call('PUT', url, { body: { ...same.body, spec: { type: 'b' } } });
    expect(other.status).to.equal(422);
    expect(other.body['message']).to.contain('spec.type: Forbidden: type is immutable');
  });
}

describe('our CRDs on an API server', function () {
  const kubeconfig = subjectKubeconfig();
  if (kubeconfig === undefined) {
    leftOut('are served', 'ESPALIER_TEST_KUBECONFIG names no API server');
    return;
  }
  crdConformance(() => wireClient(kubeconfig));
});
