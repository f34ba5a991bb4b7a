/** The root value `.` of a chart's templates: `.Chart`, `.Values`, `.Files`, `.Release` and others. */
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import { byteLength, stringOf } from '../go/go-string.ts';
import { writeYaml } from '../gotemplate/funcs/yaml.ts';
import { fn } from '../gotemplate/signature.ts';
import { GoMap, GoObject, nilList, typedList, type GoFunction, type Value } from '../gotemplate/values.ts';
import { jsonStruct } from './capabilities.ts';
import type { Chart, ChartFile } from './chart.ts';
import type { Dependency } from './metadata.ts';
import { glob } from './patterns.ts';

export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  readonly isUpgrade: boolean;
}

const mapOf = (entries: Readonly<Record<string, Value>>): GoMap =>
  new GoMap(new Map(Object.entries(entries)));

export const releaseMap = ({ name, namespace, revision, isUpgrade }: Release): GoMap =>
  mapOf({
    Name: name,
    Namespace: namespace,
    IsUpgrade: isUpgrade,
    IsInstall: !isUpgrade,
    Revision: BigInt(revision),
    Service: 'Helm',
  });

/** Shares its entries with `map`: a template that sets a value sets it for all following templates. */
export function valuesMap(map: GoMap): GoMap {
  const plain = new GoMap(map.entries);
  return new GoMap(map.entries, 'interface {}', {
    type: 'chartutil.Values',
    methods: new Map<string, GoFunction>([
      ['AsMap', fn('', () => plain)],
      ['YAML', fn('', () => `${writeYaml(plain)}\n`)],
    ]),
  });
}

/** `.Template`: the current template. */
export const templateMap = (name: string, basePath: string): GoMap =>
  valuesMap(mapOf({ Name: name, BasePath: basePath }));

// ---------------------------------------------------------------- .Files

type FilesByName = ReadonlyMap<string, Uint8Array>;
const NOTHING = new Uint8Array();

export const filesMap = (files: readonly ChartFile[]): GoMap =>
  filesObject(new Map(files.map(({ name, content }) => [name, content])));

function filesObject(files: FilesByName): GoMap {
  const get = (name: string): Uint8Array => files.get(name) ?? NOTHING;
  const byBase = (write: (content: Uint8Array) => string): string =>
    writeYaml(
      new GoMap(
        new Map([...files].map(([name, content]) => [name.slice(name.lastIndexOf('/') + 1), write(content)])),
        'string',
      ),
    );
  const methods = new Map<string, GoFunction>([
    ['Get', fn('string', (name: string) => stringOf(get(name)))],
    ['GetBytes', fn('string', get)],
    ['Lines', fn('string', (name: string) => linesOf(files.get(name)))],
    ['Glob', fn('string', (pattern: string) => filesObject(matching(files, pattern)))],
    ['AsConfig', fn('', () => byBase(stringOf))],
    ['AsSecrets', fn('', () => byBase((content) => Buffer.from(content).toString('base64')))],
  ]);
  return new GoMap(new Map<string, Value>(files), '[]uint8', { type: 'engine.files', methods });
}

function matching(files: FilesByName, pattern: string): FilesByName {
  const matches = glob(pattern);
  return new Map([...files].filter(([name]) => matches(name)));
}

function linesOf(content: Uint8Array | undefined): Value {
  const text = content ? stringOf(content) : '';
  if (byteLength(text) === 0) return typedList('string', []);
  return typedList('string', text.replace(/\n$/, '').split('\n'));
}

// ---------------------------------------------------------------- .Chart

const TEXT_FIELDS = {
  Name: 'name',
  Home: 'home',
  Sources: undefined,
  Version: 'version',
  Description: 'description',
  Keywords: undefined,
  Maintainers: undefined,
  Icon: 'icon',
  APIVersion: 'apiVersion',
  Condition: 'condition',
  Tags: 'tags',
  AppVersion: 'appVersion',
} as const;

const text = (document: unknown, key: string): string => {
  const value = ownField(document, key);
  return typeof value === 'string' ? value : '';
};
const texts = (value: unknown): Value =>
  Array.isArray(value) ? typedList('string', value.map(String)) : nilList('string');

/** Omits fields that Go omits: empty strings, lists and maps, `false`. */
function filled(fields: Readonly<Record<string, Value>>): GoObject {
  const isEmpty = (value: Value): boolean =>
    value === '' ||
    value === false ||
    (Array.isArray(value) && value.length === 0) ||
    (value instanceof GoMap && value.entries.size === 0);
  return jsonStruct(Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))));
}

/** `.Chart`. Its Go struct has one more field: whether it is the root chart. */
export function chartObject({ metadata }: Chart, isRoot: boolean): GoObject {
  const { document } = metadata;
  const read: Record<string, Value> = {};
  for (const [field, key] of Object.entries(TEXT_FIELDS)) if (key) read[field] = text(document, key);
  const fields: Record<string, Value> = {
    ...read,
    Name: metadata.name,
    APIVersion: metadata.apiVersion,
    Sources: texts(document['sources']),
    Keywords: texts(document['keywords']),
    Maintainers: listOf('*chart.Maintainer', document['maintainers'], maintainer),
    Deprecated: document['deprecated'] === true,
    Annotations: annotationsOf(document),
    KubeVersion: metadata.kubeVersion,
    Dependencies:
      metadata.dependencies.length === 0
        ? nilList('*chart.Dependency')
        : typedList('*chart.Dependency', metadata.dependencies.map(dependency)),
    Type: metadata.type,
    IsRoot: isRoot,
  };
  const json = Object.fromEntries(
    Object.entries(TEXT_FIELDS).map(([field, key]) => [key ?? field.toLowerCase(), fields[field]]),
  );
  return new GoObject({
    type: 'struct { chart.Metadata; IsRoot bool }',
    fields,
    json: () => {
      const inner = filled({
        ...json,
        deprecated: fields['Deprecated'],
        annotations: fields['Annotations'],
        kubeVersion: metadata.kubeVersion,
        dependencies: fields['Dependencies'],
        type: metadata.type,
      });
      return jsonStruct({ ...Object.fromEntries(inner.fields), IsRoot: isRoot });
    },
  });
}

const listOf = (type: string, value: unknown, make: (entry: Fields) => Value): Value =>
  Array.isArray(value) ? typedList(type, value.filter(isObject).map(make)) : nilList(type);

function annotationsOf(document: Fields): GoMap {
  const annotations = ownField(document, 'annotations');
  if (!isObject(annotations)) return GoMap.nil('string');
  const entries = Object.entries(annotations);
  return new GoMap(new Map(entries.map(([key, value]) => [key, String(value)])), 'string');
}

function maintainer(entry: Fields): GoObject {
  const fields = { Name: text(entry, 'name'), Email: text(entry, 'email'), URL: text(entry, 'url') };
  return new GoObject({
    type: '*chart.Maintainer',
    fields,
    json: () => filled({ name: fields.Name, email: fields.Email, url: fields.URL }),
  });
}

function dependency(of: Dependency): GoObject {
  const { name, version, repository, condition, alias } = of;
  const tags = texts(of.tags);
  return new GoObject({
    type: '*chart.Dependency',
    fields: {
      Name: name,
      Version: version,
      Repository: repository,
      Condition: condition,
      Tags: tags,
      Enabled: true,
      Alias: alias,
    },
    json: () => {
      const rest = filled({ condition, tags, enabled: true, alias });
      return jsonStruct({
        name,
        ...(version && { version }),
        repository,
        ...Object.fromEntries(rest.fields),
      });
    },
  });
}
