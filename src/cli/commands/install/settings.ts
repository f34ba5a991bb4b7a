/** The validated settings of an installation, from options and configuration. */
import { readFileSync } from 'node:fs';
import { isObject, type Fields } from '../../../lib/objects.ts';
import { parseYaml } from '../../../lib/yaml.ts';
import type { Logger } from '../../../observability/log.ts';
import { defaults, readConfiguration } from '../../configuration/configuration.ts';
import { UsageError } from '../../errors.ts';
import { deployerNames, type DeployerName } from '../../names.ts';
import { configurationDocument } from './configuration.ts';

export interface InstallSettings {
  readonly image: string;
  readonly namespace: string;
  readonly replicas: number;
  readonly deployers: readonly DeployerName[];
  readonly webhooks: boolean;
  /** Secret with the credentials for the registry of the image. */
  readonly pullSecret?: string;
  /** Whether the CustomResourceDefinitions are installed. */
  readonly crds: boolean;
  /** The configuration document for the pods; undefined if all settings have their defaults. */
  readonly configuration?: Fields;
  /** Namespaces that may read /metrics; undefined: all. */
  readonly metricsNamespaces?: readonly string[];
  /** Namespace for pods of container items; undefined without the container deployer. */
  readonly podNamespace?: string;
  /** Namespace of the deployments that the health check reads; undefined if it is disabled. */
  readonly healthNamespace?: string;
}

export interface InstallOptions {
  readonly image?: string;
  readonly namespace: string;
  readonly replicas: number;
  readonly config?: string;
  /** false with --no-webhooks, undefined without an option. */
  readonly webhooks?: boolean;
  readonly deployers?: readonly string[];
  readonly pullSecret?: string;
  readonly metricsFrom?: readonly string[];
  /** false with --no-crds. */
  readonly crds: boolean;
}

/**
 * @param log receives warnings about unknown or unused keys of the configuration
 * @throws UsageError with a message of one line
 */
export function settingsFrom(options: InstallOptions, log?: Pick<Logger, 'info' | 'warn'>): InstallSettings {
  const { namespace, replicas, config, pullSecret, metricsFrom } = options;
  const image = imageIn(options.image);
  checkName('namespace', namespace, LABEL);
  if (pullSecret !== undefined) checkName('pull secret', pullSecret, SUBDOMAIN);
  for (const name of metricsFrom ?? []) checkName('namespace', name, LABEL);
  const deployers = chosen(options.deployers);
  const given = config === undefined ? defaults : readConfiguration(config, log);
  const raw = config === undefined ? {} : documentIn(config);
  const configuration = configurationDocument(raw, { namespace, image, deployers });
  const hasPods = deployers.includes('container');
  const podNamespace =
    isObject(raw['container']) && raw['container']['namespace'] ? given.container.namespace : namespace;
  return {
    image,
    namespace,
    replicas,
    deployers,
    webhooks: options.webhooks ?? false,
    crds: options.crds && given.installsCrds,
    ...(pullSecret !== undefined && { pullSecret }),
    ...(metricsFrom && { metricsNamespaces: metricsFrom }),
    ...(configuration && { configuration }),
    ...(hasPods && { podNamespace }),
    ...(given.health && { healthNamespace: given.health.namespace }),
  };
}

/** `[host[:port]/]path[:tag][@digest]` */
const IMAGE =
  /^(?:[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

function imageIn(image: string | undefined): string {
  if (image === undefined) {
    throw new UsageError(
      'no image given; set --image, such as registry.example.org/espalier:0.1.0; ' +
        'no image is published, build one with the Dockerfile',
    );
  }
  if (IMAGE.test(image)) return image;
  throw new UsageError(`"${image}" is not a valid image; write it like registry.example.org/espalier:0.1.0`);
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

function chosen(wanted: readonly string[] | undefined): readonly DeployerName[] {
  if (!wanted) return deployerNames;
  const unknown = wanted.filter((name) => !(deployerNames as readonly string[]).includes(name));
  if (unknown.length === 0) return deployerNames.filter((name) => wanted.includes(name));
  throw new UsageError(
    `there is no deployer "${unknown.join('", "')}"; known are ${deployerNames.join(', ')}`,
  );
}

/** The file as it is; it has already been validated. */
function documentIn(file: string): Fields {
  const document: unknown = parseYaml(readFileSync(file, 'utf8'));
  return isObject(document) ? document : {};
}
