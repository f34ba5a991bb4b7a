import { expect } from 'chai';
import {
  documentHash,
  documentKey,
  openApiIndex,
  openApiV3,
  type OpenApiKind,
} from '../../../src/apiserver/openapi/openapi.ts';
import { widgetSchema } from './widget.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const base = { namespaced: true, verbs: VERBS, subresources: ['status'] };
const deployment: OpenApiKind = {
  ...base,
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  listKind: 'DeploymentList',
  plural: 'deployments',
  builtIn: true,
};
const widget: OpenApiKind = {
  ...base,
  group: 'ex.io',
  version: 'v1',
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  builtIn: false,
  openapi: widgetSchema as Record<string, unknown>,
};

interface Document {
  paths: Record<
    string,
    Record<string, { parameters: { name: string }[]; 'x-kubernetes-group-version-kind': object }>
  >;
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> };
}
const document = (kind: OpenApiKind): Document =>
  openApiV3(kind.group, kind.version, [kind]) as unknown as Document;

describe('the OpenAPI document', () => {
  it('API-19: has PATCH, field validation and the kind of a custom resource', () => {
    const { paths, components } = document(widget);
    const patch = paths['/apis/ex.io/v1/namespaces/{namespace}/widgets/{name}']?.['patch'];
    expect(patch?.parameters.map((parameter) => parameter.name)).to.include('fieldValidation');
    expect(patch?.['x-kubernetes-group-version-kind']).to.deep.equal({
      group: 'ex.io',
      version: 'v1',
      kind: 'Widget',
    });
    expect(components.schemas['io.ex.v1.Widget']?.properties).to.have.all.keys(
      'apiVersion',
      'kind',
      'metadata',
      'spec',
      'status',
    );
    expect(components.schemas).to.have.property('io.ex.v1.WidgetList');
  });
  for (const kind of [widget, deployment]) {
    it(`API-18: of ${kind.kind} contains every schema that it refers to`, () => {
      const { components } = document(kind);
      const refs = [...JSON.stringify(document(kind)).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
        ([, n]) => n,
      );
      expect(refs.length).to.be.greaterThan(5);
      expect(refs.filter((name) => name === undefined || !(name in components.schemas))).to.deep.equal([]);
    });
  }
  it('API-18: is listed with its hash', () => {
    const hash = documentHash('text');
    expect(openApiIndex([{ key: documentKey('', 'v1'), hash }])).to.deep.equal({
      paths: { 'api/v1': { serverRelativeURL: `/openapi/v3/api/v1?hash=${hash}` } },
    });
  });
});
