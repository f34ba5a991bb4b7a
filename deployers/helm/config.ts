/** The provider configuration of the helm deployer, and its validation. */
import { isDuration, parseDuration } from '../../src/lib/duration.ts';
import { isObject, type Fields } from '../../src/lib/objects.ts';
import {
  codec,
  CodecError,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
  type Codec,
} from '../sdk/codec.ts';
import { decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { decodeExports, type ExportSpec } from '../objects/exports.ts';
import { decodeGroups, type DeletionGroup } from '../objects/manifests/groups.ts';
import type { Strategy } from '../objects/manifests/model.ts';
import { decodeStrategy } from '../objects/manifests/strategy-name.ts';
import { decodeReadiness, type ReadinessChecks } from '../objects/readiness/custom.ts';
import { describedBy } from '../sdk/schema.ts';
import { HELM_API_VERSION, helmSchema } from './schema.ts';

export type ChartSource =
  | { readonly kind: 'raw'; readonly base64: string }
  | { readonly kind: 'remote'; readonly url: string }
  | { readonly kind: 'ref'; readonly ref: string }
  | { readonly kind: 'repo'; readonly url: string; readonly name: string; readonly version: string }
  | { readonly kind: 'resource'; readonly key: string };

/** Options of one action on a release; times in milliseconds. */
export interface ActionOptions {
  readonly atomic: boolean;
  readonly force: boolean;
  readonly skipSchemaValidation: boolean;
  readonly takeOwnership: boolean;
  readonly wait: boolean;
  readonly timeoutMs: number | undefined;
}

export interface HelmConfig {
  readonly name: string;
  readonly namespace: string;
  readonly createNamespace: boolean;
  readonly chart: ChartSource;
  readonly values: Fields;
  /** Whether the chart is installed as a release; otherwise its manifests are applied directly. */
  readonly isRelease: boolean;
  readonly install: ActionOptions;
  readonly upgrade: ActionOptions;
  readonly uninstall: ActionOptions;
  readonly strategy: Strategy;
  readonly readiness: ReadinessChecks;
  readonly exports: readonly ExportSpec[];
  readonly deletionGroups: readonly DeletionGroup[];
  readonly deletionGroupsDuringUpdate: readonly DeletionGroup[];
  readonly continuousReconcile?: ContinuousReconcile | undefined;
}

const required = (path: string, message = 'must not be empty'): CodecError =>
  new CodecError({ step: 'validate', message: `${path}: Required value: ${message}` });

export const helmConfig: Codec<HelmConfig> = describedBy(
  { [HELM_API_VERSION]: helmSchema },
  codec('ProviderConfiguration', { [HELM_API_VERSION]: decode }),
);

function decode(fields: Fields): HelmConfig {
  const text = (key: string): string => optionalString(fields[key], key) ?? '';
  const chart = decodeChart(optionalObject(fields['chart'], 'chart') ?? {});
  if (text('name') === '') throw required('name');
  if (text('namespace') === '') throw required('namespace');
  const actions = optionalObject(fields['helmDeploymentConfig'], 'helmDeploymentConfig') ?? {};
  const action = (key: keyof typeof KNOWN): ActionOptions =>
    decodeAction(optionalObject(actions[key], `helmDeploymentConfig.${key}`) ?? {}, key);
  return {
    name: text('name'),
    namespace: text('namespace'),
    createNamespace: optionalBoolean(fields['createNamespace'], 'createNamespace') ?? false,
    chart,
    values: optionalObject(fields['values'], 'values') ?? {},
    isRelease: optionalBoolean(fields['helmDeployment'], 'helmDeployment') ?? true,
    install: action('install'),
    upgrade: action('upgrade'),
    uninstall: action('uninstall'),
    strategy: decodeStrategy(fields['updateStrategy']),
    readiness: decodeReadiness(fields['readinessChecks'], 'readinessChecks'),
    exports: decodeAllExports(fields),
    deletionGroups: decodeGroups(fields['deletionGroups'], 'deletionGroups'),
    deletionGroupsDuringUpdate: decodeGroups(
      fields['deletionGroupsDuringUpdate'],
      'deletionGroupsDuringUpdate',
    ),
    continuousReconcile: decodeContinuous(fields['continuousReconcile']),
  };
}

// ---------------------------------------------------------------- chart

/** If several sources are set, the first one in this order counts. */
function decodeChart(chart: Fields): ChartSource {
  const text = (fields: Fields | undefined, key: string, path: string): string =>
    optionalString(fields?.[key], `${path}.${key}`) ?? '';
  const archive = optionalObject(chart['archive'], 'chart.archive');
  const base64 = text(archive, 'raw', 'chart.archive');
  if (base64 !== '') return { kind: 'raw', base64 };
  const remote = optionalObject(archive?.['remote'], 'chart.archive.remote');
  if (archive) {
    const url = text(remote, 'url', 'chart.archive.remote');
    if (url === '') throw required('chart.archive', 'must have raw or remote.url');
    return { kind: 'remote', url: httpUrl(url, 'chart.archive.remote.url') };
  }
  const ref = text(chart, 'ref', 'chart');
  if (ref !== '') return { kind: 'ref', ref: withTag(ref) };
  const repo = optionalObject(chart['helmChartRepo'], 'chart.helmChartRepo');
  if (repo) return decodeRepo((key) => text(repo, key, 'chart.helmChartRepo'));
  if (isObject(chart['fromResource'])) {
    throw new CodecError({
      step: 'validate',
      message: 'chart.fromResource is no longer supported; use chart.resourceRef',
    });
  }
  const key = text(chart, 'resourceRef', 'chart');
  if (key !== '') return { kind: 'resource', key };
  throw required(
    'chart',
    'must not be empty: either ref, fromResource, helmChartRepo or resourceRef must be set',
  );
}

function decodeRepo(text: (key: string) => string): ChartSource {
  for (const key of ['helmChartRepoUrl', 'helmChartName', 'helmChartVersion']) {
    if (text(key) === '') throw required(`chart.helmChartRepo.${key}`);
  }
  const url = httpUrl(text('helmChartRepoUrl'), 'chart.helmChartRepo.helmChartRepoUrl');
  return { kind: 'repo', url, name: text('helmChartName'), version: text('helmChartVersion') };
}

function httpUrl(text: string, path: string): string {
  if (/^https?:\/\/[^/]/.test(text) && URL.canParse(text)) return text;
  throw new CodecError({
    step: 'validate',
    message: `${path}: Invalid value: must be a URL with http or https`,
  });
}

/** A reference without a tag is refused, because the chart behind it changes. */
function withTag(ref: string): string {
  const bare = ref.replace(/^oci:\/\//, '');
  if (bare.includes('@') || /:[^/]+$/.test(bare)) return bare;
  throw new CodecError({ step: 'validate', message: `chart.ref: no tag specified in reference ${bare}` });
}

// ---------------------------------------------------------------- options of Helm

const ACTION = ['atomic', 'force', 'skipSchemaValidation', 'takeOwnership', 'timeout', 'wait'];
const KNOWN: Readonly<Record<'install' | 'upgrade' | 'uninstall', readonly string[]>> = {
  install: ACTION,
  upgrade: ACTION,
  uninstall: ['timeout', 'wait'],
};

function decodeAction(options: Fields, action: keyof typeof KNOWN): ActionOptions {
  const path = `helmDeploymentConfig.${action}`;
  const supported = KNOWN[action];
  const unknown = Object.keys(options).find((key) => !supported.includes(key));
  if (unknown !== undefined) {
    const names = supported.map((name) => `"${name}"`).join(', ');
    throw new CodecError({
      step: 'validate',
      message: `${path}: Unsupported value: "${unknown}": supported values: ${names}`,
    });
  }
  const is = (key: string): boolean => optionalBoolean(options[key], `${path}.${key}`) ?? false;
  return {
    atomic: is('atomic'),
    force: is('force'),
    skipSchemaValidation: is('skipSchemaValidation'),
    takeOwnership: is('takeOwnership'),
    wait: is('wait') || is('atomic'),
    timeoutMs: timeoutOf(options['timeout'], `${path}.timeout`),
  };
}

/** A duration as a string, or in nanoseconds, as upstream writes it. */
function timeoutOf(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value >= 0) return value / 1e6 || undefined;
  if (typeof value === 'string' && isDuration(value)) return parseDuration(value) || undefined;
  throw new CodecError({ step: 'decode', message: `${path}: expected a duration such as "5m"` });
}

// ---------------------------------------------------------------- exports

/** The exports in both formats; each key may appear once. */
function decodeAllExports(fields: Fields): readonly ExportSpec[] {
  const newer = decodeExports(fields['exports'], 'exports') ?? [];
  const list = optionalList(fields['exportsFromManifests'], 'exportsFromManifests');
  const older = decodeExports(list && { exports: list }, 'exportsFromManifests') ?? [];
  const keys = new Set(newer.map((e) => e.key));
  for (const { key, from } of older) {
    if (keys.has(key)) {
      throw new CodecError({ step: 'validate', message: `exportsFromManifests: Duplicate value: "${key}"` });
    }
    keys.add(key);
    if (from && from.namespace === undefined) {
      throw required(`exportsFromManifests[${key}].fromResource.namespace`);
    }
  }
  return [...newer, ...older];
}
