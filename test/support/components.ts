/** Components for tests, like upstream's examples: a root that refers to a leaf, with everything in one tree. */
import { API_VERSION } from '../../src/api/labels.ts';
import { blueprint } from './landscape.ts';

export const BLUEPRINT_TAR = 'application/vnd.gardener.landscaper.blueprint.layer.v1.tar';
export const SCHEMA_JSON = 'application/vnd.gardener.landscaper.jsonschema.layer.v1.json';
export const LABEL = 'landscaper.gardener.cloud/component-descriptor';

type Fields = Readonly<Record<string, unknown>>;

export const blob = (name: string, type: string, mediaType: string, localReference: string) => ({
  name,
  version: '1.0.0',
  type,
  relation: 'local',
  access: { type: 'localBlob', localReference, mediaType },
});
export const image = (name: string, imageReference: string, more: Fields = {}) => ({
  name,
  version: '1.0.0',
  type: 'ociImage',
  relation: 'external',
  access: { type: 'ociArtifact', imageReference },
  ...more,
});
export const reference = (name: string, componentName: string, version: string, more: Fields = {}) => ({
  name,
  componentName,
  version,
  ...more,
});

/** An address without a server: code that needs no network must not notice. */
export const NOWHERE = { type: 'OCIRegistry', baseUrl: '127.0.0.1:1', componentNameMapping: 'urlPath' };

export const descriptor = (
  name: string,
  version: string,
  resources: readonly object[],
  componentReferences: readonly object[] = [],
  more: Fields = {},
) => ({
  meta: { schemaVersion: 'v2' },
  component: {
    name,
    version,
    provider: 'example',
    repositoryContexts: [NOWHERE],
    sources: [],
    componentReferences,
    resources,
    ...more,
  },
});

export const leaf = (version: string, tag: string) =>
  descriptor('example.org/leaf', version, [
    image('img', `example.org/img/leaf:${tag}`),
    blob('sub-bp', 'landscaper.gardener.cloud/blueprint', BLUEPRINT_TAR, 'sub'),
    blob('schema', 'landscaper.gardener.cloud/jsonschema', SCHEMA_JSON, 'schema.json'),
  ]);

export const rootComponent = descriptor(
  'example.org/root',
  '1.0.0',
  [
    image('web-chart', 'example.org/charts/web:1.2.3', { extraIdentity: { kind: 'chart' } }),
    image('web-chart', 'example.org/charts/web:1.2.4', { extraIdentity: { kind: 'other' } }),
    blob('bp', 'landscaper.gardener.cloud/blueprint', BLUEPRINT_TAR, 'bp'),
    blob('text', 'plainText', 'text/plain', 'text.txt'),
    blob('raw', 'blob', 'application/octet-stream', 'text.txt'),
  ],
  [reference('leaf', 'example.org/leaf', '0.1.0')],
);

/** A blueprint that exports the result of a template that reads its component. */
export const seeing = (template: string, more: object = {}): object =>
  blueprint({ gives: { seen: template }, more });

const SUB = { ref: 'cd://componentReferences/leaf/resources/sub-bp' };
const SCHEMA = { $ref: 'cd://componentReferences/leaf/resources/schema' };

/** The blueprint in the root component: a schema and a sub-installation come from the leaf. */
export const rootBlueprint = (template: string): object =>
  seeing(template, {
    imports: [{ name: 'text', type: 'data', required: false, schema: SCHEMA }],
    subinstallations: [{ name: 'sub', blueprint: SUB }],
  });

/** Blobs by file name; a map is a folder. */
export const blobsWith = (template: string): Fields => ({
  bp: { 'blueprint.yaml': JSON.stringify(rootBlueprint(template)) },
  sub: { 'blueprint.yaml': JSON.stringify(blueprint({})) },
  'schema.json': JSON.stringify({ type: 'string', minLength: 3 }),
  'text.txt': 'hello\n',
});

export const DESCRIPTORS = {
  'root.yaml': rootComponent,
  'leaf.yaml': leaf('0.1.0', '0.9'),
  'leaf2.yaml': leaf('0.2.0', '2.0'),
};

/** All of it as an inline repository. */
export const inlineRepository = (template = '{}') => ({
  type: 'inline',
  compDescDirPath: 'comps',
  blobDirPath: 'blobs',
  fileSystem: {
    comps: Object.fromEntries(
      Object.entries(DESCRIPTORS).map(([name, value]) => [name, { $type: 'yaml', value }]),
    ),
    blobs: blobsWith(template),
  },
});

export const overwrites = (name: string, entries: readonly object[]) => ({
  apiVersion: API_VERSION,
  kind: 'ComponentVersionOverwrites',
  metadata: { name },
  overwrites: entries,
});
