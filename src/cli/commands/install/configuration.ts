/** The configuration of the product in the cluster: the file, with defaults that depend on the cluster. Pure. */
import { createHash } from 'node:crypto';
import { isObject, ownField, type Fields } from '../../../lib/objects.ts';
import { toYaml } from '../../../lib/yaml.ts';
import type { ConfigMap } from '../../../runtime/core-kinds.ts';
import type { DeployerName } from '../../names.ts';
import { labelsOf, NAME } from './names.ts';

const FILE = 'configuration.yaml';

/** Where the configuration is mounted in pods. */
export const CONFIGURATION_FOLDER = '/etc/espalier';
export const CONFIGURATION_FILE = `${CONFIGURATION_FOLDER}/${FILE}`;

/**
 * The document, with defaults for the pods of container items: they run in the namespace of the product, and the
 * helper programs come from the installed image.
 * @returns undefined if all settings have their defaults
 */
export function configurationDocument(
  given: Fields,
  where: { readonly namespace: string; readonly image: string; readonly deployers: readonly DeployerName[] },
): Fields | undefined {
  const { namespace, image, deployers } = where;
  const container = isObject(given['container']) ? given['container'] : {};
  const pods = deployers.includes('container') && {
    container: {
      ...container,
      namespace: container['namespace'] || namespace,
      initContainer: { image, ...programIn(container, 'initContainer') },
      waitContainer: { image, ...programIn(container, 'waitContainer') },
    },
  };
  if (Object.keys(given).length === 0 && !pods) return undefined;
  return {
    apiVersion: 'config.landscaper.gardener.cloud/v1alpha1',
    kind: 'LandscaperConfiguration',
    ...given,
    ...pods,
  };
}

/** The settings of a program, without keys that have no value. */
function programIn(container: Fields, key: string): Fields {
  const program = container[key];
  if (!isObject(program)) return {};
  return Object.fromEntries(Object.entries(program).filter(([, value]) => value !== null));
}

export const configMapOf = (namespace: string, document: Fields): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: NAME, namespace, labels: labelsOf('controllers') },
  data: { [FILE]: toYaml(document) },
});

/**
 * A hash of the document. Pods read the configuration only at their start, so they are replaced when the hash
 * changes.
 */
export const fingerprint = (document: Fields): string =>
  createHash('sha256').update(toYaml(document)).digest('hex').slice(0, 16);

/** Folders in the configuration that do not exist in pods. */
export function missingFolders(given: Fields): readonly string[] {
  const path = ownField(ownField(given['registry'], 'local'), 'rootPath');
  return typeof path === 'string' && path !== '' ? [`registry.local.rootPath: ${path}`] : [];
}
