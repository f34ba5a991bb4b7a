/** Parses `Chart.yaml` with Go's leniency and validates it with Helm's rules. */
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import { EACH_STRING, stringFields, type YamlStrings } from '../../lib/yaml-strings.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import { compareVersions, parseVersion } from '../go/semver.ts';
import { satisfies } from '../go/semver-constraint.ts';
import { FunctionError } from '../gotemplate/errors.ts';
import { ChartInvalid } from './errors.ts';

export interface ChartMetadata {
  readonly apiVersion: string;
  /** The alias if the dependency has one. */
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly kubeVersion: string;
  readonly dependencies: readonly Dependency[];
  /** The complete document with its original field names. */
  readonly document: Fields;
}

export interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly repository: string;
  readonly condition: string;
  readonly tags: readonly string[];
  readonly alias: string;
  readonly importValues: readonly unknown[];
}

const TEXTS = [
  'name',
  'home',
  'version',
  'description',
  'icon',
  'apiVersion',
  'condition',
  'tags',
  'appVersion',
  'kubeVersion',
  'type',
];
const LISTS = ['sources', 'keywords'];

const DEPENDENCY: YamlStrings = {
  fields: {
    ...stringFields('name', 'version', 'repository', 'condition', 'alias'),
    tags: EACH_STRING,
    enabled: undefined,
    'import-values': undefined,
  },
};

/** Helm's `Metadata`. */
const METADATA_FIELDS = {
  ...stringFields(...TEXTS),
  ...Object.fromEntries(LISTS.map((name) => [name, EACH_STRING])),
  maintainers: { each: { fields: stringFields('name', 'email', 'url') } },
  deprecated: undefined,
  annotations: EACH_STRING,
  dependencies: { each: DEPENDENCY },
};

/** Helm's `Lock`. */
export const LOCK: YamlStrings = {
  fields: { generated: undefined, digest: 'string', dependencies: { each: DEPENDENCY } },
};

/** Helm's `IndexFile`: a version of a chart has the metadata of the chart. */
export const INDEX: YamlStrings = {
  fields: {
    ...stringFields('apiVersion'),
    generated: undefined,
    entries: { each: { each: { fields: { ...METADATA_FIELDS, urls: EACH_STRING, digest: 'string' } } } },
    publicKeys: EACH_STRING,
    annotations: EACH_STRING,
  },
};

/**
 * @param where the chart, for messages
 * @param requirements `requirements.yaml` of older charts; its dependencies win
 * @throws ChartInvalid
 */
export function readMetadata(text: string, where: string, requirements?: string): ChartMetadata {
  const document = readDocument(text, `${where}Chart.yaml`);
  const more = requirements === undefined ? {} : readDocument(requirements, `${where}requirements.yaml`);
  const all = { ...document, ...more };
  for (const key of TEXTS) expectText(all, key, where);
  for (const key of LISTS) {
    const list = all[key] ?? [];
    if (!Array.isArray(list) || list.some((entry) => typeof entry !== 'string')) {
      throw new ChartInvalid(`${where}Chart.yaml: ${key} must be a list of strings`);
    }
  }
  const read = (key: string): string => sanitize(textOf(all, key));
  const metadata: ChartMetadata = {
    apiVersion: textOf(all, 'apiVersion') || 'v1',
    name: read('name'),
    version: textOf(all, 'version'),
    type: textOf(all, 'type'),
    kubeVersion: read('kubeVersion'),
    dependencies: readDependencies(all['dependencies'], where),
    document: all,
  };
  validate(metadata, where);
  return metadata;
}

function readDocument(text: string, file: string): Fields {
  try {
    const document = parseYaml(text, { integers: 'exact', strings: { fields: METADATA_FIELDS } });
    if (document === null) return {};
    if (isObject(document)) return document;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new ChartInvalid(`cannot load ${file}: error converting YAML to JSON: ${error.message}`, {
      cause: error,
    });
  }
  throw new ChartInvalid(`cannot load ${file}: it holds no map`);
}

function expectText(fields: Fields, key: string, where: string): void {
  const value = ownField(fields, key);
  if (value !== undefined && value !== null && typeof value !== 'string') {
    throw new ChartInvalid(`cannot load ${where}Chart.yaml: ${key} must be a string`);
  }
}

const textOf = (fields: unknown, key: string): string => {
  const value = ownField(fields, key);
  return typeof value === 'string' ? value : '';
};

/** Replaces white space by blanks and drops unprintable characters, as Helm does. */
const sanitize = (text: string): string => text.replace(/\s/gu, ' ').replace(/[\p{C}]/gu, '');

function readDependencies(value: unknown, where: string): readonly Dependency[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ChartInvalid(`${where}Chart.yaml: dependencies must be a list`);
  return value.map((entry: unknown) => {
    if (!isObject(entry))
      throw new ChartInvalid(`${where}Chart.yaml: dependencies must not contain empty or null nodes`);
    const tags = ownField(entry, 'tags');
    const imports = ownField(entry, 'import-values');
    return {
      name: sanitize(textOf(entry, 'name')),
      version: sanitize(textOf(entry, 'version')),
      repository: sanitize(textOf(entry, 'repository')),
      condition: sanitize(textOf(entry, 'condition')),
      tags: Array.isArray(tags) ? tags.map(String) : [],
      alias: textOf(entry, 'alias'),
      importValues: Array.isArray(imports) ? imports : [],
    };
  });
}

const SEMVER =
  /^v?\d+(\.\d+)?(\.\d+)?(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

function validate({ name, version, type, dependencies }: ChartMetadata, where: string): void {
  const refuse = (rule: string): never => {
    throw new ChartInvalid(`${where}Chart.yaml: validation: ${rule}`);
  };
  if (name === '') refuse('chart.metadata.name is required');
  if (name.includes('/') || name === '.' || name === '..') refuse(`chart.metadata.name "${name}" is invalid`);
  if (version === '') refuse('chart.metadata.version is required');
  if (!SEMVER.test(version)) refuse(`chart.metadata.version "${version}" is invalid`);
  if (!['', 'application', 'library'].includes(type)) {
    refuse('chart.metadata.type must be application or library');
  }
  const seen = new Set<string>();
  for (const { name: dependency, alias } of dependencies) {
    if (alias !== '' && !/^[a-zA-Z0-9_-]+$/.test(alias)) {
      refuse(`dependency "${dependency}" has disallowed characters in the alias`);
    }
    const key = alias || dependency;
    if (seen.has(key)) refuse(`more than one dependency with name or alias "${key}"`);
    seen.add(key);
  }
}

/** Whether a version is in a range; false if either is invalid. */
export function isInRange(range: string, version: string): boolean {
  try {
    return satisfies(version, range);
  } catch (error) {
    if (error instanceof FunctionError) return false;
    throw error;
  }
}

/** Compares two versions; invalid ones come last. */
export function compareRanked(a: string, b: string): number {
  const [x, y] = [versionOf(a), versionOf(b)];
  if (!x || !y) return Number(x !== undefined) - Number(y !== undefined);
  return compareVersions(x, y);
}

function versionOf(text: string): ReturnType<typeof parseVersion> | undefined {
  try {
    return parseVersion(text);
  } catch (error) {
    if (error instanceof FunctionError) return undefined;
    throw error;
  }
}
