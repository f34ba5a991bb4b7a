/** The content of a release record: what a rendered chart is stored as, in the form of Helm's JSON. Pure. */
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import { goTextOf } from '../../lib/yaml-strings.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import { trimSpace } from '../go/spaces.ts';
import type { Chart, ChartFile } from './chart.ts';
import { importOf } from './dependencies.ts';
import { annotation, type Hook } from './manifests.ts';
import { LOCK, type Dependency } from './metadata.ts';
import { pageOf, type Rendering } from './render.ts';
import type { Release } from './root.ts';

/** What changes while a release is installed; times in RFC 3339, empty if they do not apply. */
export interface RecordInfo {
  readonly first_deployed: string;
  readonly last_deployed: string;
  readonly deleted: string;
  readonly description: string;
  readonly status: string;
}

/** The record of a new revision. */
export function recordOf(
  rendering: Rendering,
  { name, namespace, revision }: Pick<Release, 'name' | 'namespace' | 'revision'>,
  values: Fields,
  info: RecordInfo,
): Fields {
  const { chart, manifests, hooks, notes } = rendering;
  return filled({
    name,
    info: filled({ ...info, notes }, ['deleted']),
    chart: chartIn(chart),
    config: values,
    manifest: manifests.map(pageOf).join(''),
    hooks: hooks.map(hookIn),
    version: revision,
    namespace,
  });
}

/** Leaves out what Go leaves out: empty strings, lists and maps, false, zero. @param kept fields that stay */
function filled(fields: Fields, kept: readonly string[] = []): Fields {
  const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    value === '' ||
    value === false ||
    value === 0 ||
    (Array.isArray(value) && value.length === 0) ||
    (isObject(value) && Object.keys(value).length === 0);
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => kept.includes(key) || !isEmpty(value)),
  );
}

// ---------------------------------------------------------------- hooks

const ANNOTATION = 'helm.sh/hook';

function hookIn({ source, content, kind, document, events }: Hook): Fields {
  const listed = (key: string): readonly string[] =>
    annotation(document, `${ANNOTATION}-${key}`)
      ?.split(',')
      .map((part) => trimSpace(part).toLowerCase()) ?? [];
  const weight = annotation(document, `${ANNOTATION}-weight`) ?? '';
  return filled({
    name: goTextOf(ownField(ownField(document, 'metadata'), 'name')),
    kind,
    path: source,
    manifest: content,
    events,
    last_run: { started_at: '', completed_at: '', phase: '' },
    weight: /^[+-]?\d+$/.test(weight) ? Number(weight) : 0,
    delete_policies: listed('delete-policy'),
    output_log_policies: listed('output-log-policy'),
  });
}

// ---------------------------------------------------------------- the chart

const filesIn = (files: readonly ChartFile[]): readonly Fields[] | null =>
  files.length === 0
    ? null
    : files.map(({ name, content }) => ({ name, data: Buffer.from(content).toString('base64') }));

/** Dependencies are not stored: Helm cannot render a stored chart again. */
const chartIn = (chart: Chart): Fields => ({
  metadata: metadataIn(chart),
  lock: lockIn(chart.lock),
  templates: filesIn(chart.templates),
  values: chart.hasValues || Object.keys(chart.values).length > 0 ? chart.values : null,
  schema: chart.schema ? Buffer.from(chart.schema).toString('base64') : null,
  files: filesIn(chart.files),
});

const METADATA = [
  'name',
  'home',
  'sources',
  'version',
  'description',
  'keywords',
  'icon',
  'apiVersion',
  'condition',
  'tags',
  'appVersion',
  'deprecated',
  'annotations',
  'kubeVersion',
  'type',
];

function metadataIn({ metadata }: Chart): Fields {
  const { document, dependencies, name, apiVersion, kubeVersion } = metadata;
  const maintainers = document['maintainers'];
  return filled({
    ...Object.fromEntries(METADATA.map((key) => [key, ownField(document, key) ?? undefined])),
    name,
    apiVersion,
    kubeVersion,
    maintainers: (Array.isArray(maintainers) ? maintainers : [])
      .filter(isObject)
      .map(({ name: who, email, url }) => filled({ name: who, email, url })),
    dependencies: dependencies.map(dependencyIn),
  });
}

const dependencyIn = ({ name, repository, importValues, ...rest }: Dependency): Fields => ({
  ...filled({
    name,
    version: rest.version,
    condition: rest.condition,
    tags: rest.tags,
    enabled: true,
    'import-values': importValues.map(importOf),
    alias: rest.alias,
  }),
  name,
  repository,
});

/** A damaged lock file is left out. */
function lockIn(content: Uint8Array | undefined): Fields | null {
  if (!content) return null;
  try {
    const lock = parseYaml(Buffer.from(content).toString('utf8'), { strings: LOCK });
    if (!isObject(lock)) return null;
    const { generated, digest = '', dependencies = null } = lock;
    return { generated: generated ?? '0001-01-01T00:00:00Z', digest, dependencies };
  } catch (error) {
    if (error instanceof YamlError) return null;
    throw error;
  }
}
