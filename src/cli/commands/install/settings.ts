/** The validated settings of an installation, from options, values and configuration. */
import { ownField, type Fields } from '../../../lib/objects.ts';
import type { Logger } from '../../../observability/log.ts';
import { configurationOf, readDocument } from '../../configuration/configuration.ts';
import { UsageError } from '../../errors.ts';
import { deployerNames, type DeployerName } from '../../names.ts';
import { MANAGER } from './names.ts';
import { chartValues, hasImage, imageValue } from './values.ts';

export interface InstallSettings {
  readonly namespace: string;
  /** Values of the chart. */
  readonly values: Fields;
  readonly webhooks: boolean;
  readonly console: boolean;
  /** Whether the CustomResourceDefinitions are installed. */
  readonly crds: boolean;
}

export interface InstallOptions {
  readonly image?: string;
  readonly namespace: string;
  readonly replicas?: number;
  readonly config?: string;
  /** false with --no-webhooks, undefined without an option. */
  readonly webhooks?: boolean;
  readonly deployers?: readonly string[];
  readonly pullSecret?: string;
  readonly metricsFrom?: readonly string[];
  /** Work in all namespaces instead of those that the configuration names. */
  readonly allNamespaces?: true;
  /** false with --no-crds. */
  readonly crds: boolean;
  /** Files with chart values. */
  readonly values?: readonly string[];
  readonly set?: readonly string[];
}

/**
 * @param log receives warnings about unknown or unused keys of the configuration
 * @throws UsageError with a message of one line
 */
export function settingsFrom(options: InstallOptions, log?: Pick<Logger, 'info' | 'warn'>): InstallSettings {
  const { namespace, config, crds } = options;
  checkName('namespace', namespace, LABEL);
  const values = chartValues({
    files: options.values ?? [],
    options: valuesOf(options),
    sets: options.set ?? [],
  });
  if (!hasImage(values)) {
    throw new UsageError(
      'no image given; set --image, such as registry.example.org/espalier:0.1.0; ' +
        'no image is published, build one with the Dockerfile',
    );
  }
  const { installsCrds } = configurationOf(values['config'] ?? {}, config ?? 'in the values', log);
  return {
    namespace,
    values: { ...values, managedBy: MANAGER },
    webhooks: ownField(values['webhooks'], 'enabled') === true,
    console: ownField(values['console'], 'enabled') === true,
    crds: crds && installsCrds,
  };
}

/** The values that options set. @throws UsageError */
function valuesOf(options: InstallOptions): Fields {
  const { image, replicas, config, webhooks, deployers, pullSecret, metricsFrom, allNamespaces } = options;
  if (pullSecret !== undefined) checkName('pull secret', pullSecret, SUBDOMAIN);
  for (const name of metricsFrom ?? []) checkName('namespace', name, LABEL);
  return {
    ...(image !== undefined && { image: imageValue(image) }),
    ...(replicas !== undefined && { replicas }),
    ...(deployers && { deployers: chosen(deployers) }),
    ...(config !== undefined && { config: readDocument(config) }),
    ...(webhooks !== undefined && { webhooks: { enabled: webhooks } }),
    ...(pullSecret !== undefined && { imagePullSecrets: [{ name: pullSecret }] }),
    ...(metricsFrom && { networkPolicy: { metricsFrom } }),
    ...(allNamespaces && { rbac: { allNamespaces } }),
  };
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

function checkName(what: string, name: string, pattern: RegExp): void {
  if (!pattern.test(name)) {
    throw new UsageError(
      `"${name}" is not a valid name of a ${what}; use lower-case letters, digits and hyphens`,
    );
  }
}

function chosen(wanted: readonly string[]): readonly DeployerName[] {
  const unknown = wanted.filter((name) => !(deployerNames as readonly string[]).includes(name));
  if (unknown.length === 0) return deployerNames.filter((name) => wanted.includes(name));
  throw new UsageError(
    `there is no deployer "${unknown.join('", "')}"; known are ${deployerNames.join(', ')}`,
  );
}

/** Paths in the configuration that do not exist in pods, unless the values mount them. */
export function missingFolders({ values }: Pick<InstallSettings, 'values'>): readonly string[] {
  const registry = ownField(values['config'], 'registry');
  const named = [
    ['registry.local.rootPath', [ownField(ownField(registry, 'local'), 'rootPath')]],
    ['registry.oci.configFiles', ownField(ownField(registry, 'oci'), 'configFiles')],
    ['registry.caFiles', ownField(registry, 'caFiles')],
  ] as const;
  const mounts = values['extraVolumeMounts'];
  const mounted = (Array.isArray(mounts) ? mounts : []).map((mount) => String(ownField(mount, 'mountPath')));
  const isMissing = (path: unknown): path is string =>
    typeof path === 'string' && path !== '' && !mounted.some((folder) => `${path}/`.startsWith(`${folder}/`));
  return named.flatMap(([key, paths]) =>
    (Array.isArray(paths) ? paths : []).filter(isMissing).map((path) => `${key}: ${path}`),
  );
}
