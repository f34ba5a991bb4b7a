/**
 * The configuration files of single deployers, as upstream's deployers read them. Their keys become settings of the
 * deployer, or parts of the LandscaperConfiguration.
 */
import { readFileSync } from 'node:fs';
import { readSettings, SettingsError } from '../../../deployers/sdk/settings.ts';
import { ownField, isObject, type Fields } from '../../lib/objects.ts';
import { parseYaml } from '../../lib/yaml.ts';
import type { Logger } from '../../observability/log.ts';
import { UsageError } from '../errors.ts';
import { deployerNames, type DeployerName } from '../names.ts';
import { firstError, registrySettings, type Configuration } from './configuration.ts';
import { containerSettings } from './container.ts';
import { configurationSchema } from './schema.ts';

type MoreKeys = Readonly<Record<string, true | string>>;

const OCI_KEYS: MoreKeys = {
  'oci.configFiles': true,
  'oci.allowPlainHttp': true,
  'oci.insecureSkipVerify':
    'certificates are always checked; registry.caFiles of the LandscaperConfiguration adds authorities',
  'oci.cache': 'fetched content is cached in memory, see registry.cacheSize of the LandscaperConfiguration',
};
/** Keys of the container deployer, which the LandscaperConfiguration has below `container`. */
const CONTAINER_KEYS: MoreKeys = {
  namespace: true,
  'defaultImage.image': true,
  ...Object.fromEntries(
    ['command', 'args', 'imagePullPolicy'].map((key) => [
      `defaultImage.${key}`,
      'it applies to no container, not even in upstream; a deploy item has its own command and arguments',
    ]),
  ),
  ...Object.fromEntries(
    ['initContainer', 'waitContainer'].flatMap((program) =>
      ['image', 'command', 'args', 'imagePullPolicy', 'resources'].map((key) => [`${program}.${key}`, true]),
    ),
  ),
  'garbageCollection.disable': true,
  'garbageCollection.requeueTimeSeconds': true,
  'garbageCollection.worker': 'only one garbage collection runs at a time',
  'debug.keepPod': true,
};
const keysOf: Readonly<Record<DeployerName, MoreKeys>> = {
  helm: { ...OCI_KEYS, namespace: 'a release has the namespace of its deploy item' },
  container: { ...OCI_KEYS, ...CONTAINER_KEYS },
  manifest: {},
  mock: {},
};

/**
 * @param log receives a warning for each key without effect
 * @throws UsageError of one line, with the file, the key and the error
 */
export function withDeployerFiles(
  configuration: Configuration,
  files: readonly string[],
  log: Pick<Logger, 'warn'>,
): Configuration {
  return files.reduce((before, file) => withFile(before, file, log), configuration);
}

function withFile(before: Configuration, file: string, log: Pick<Logger, 'warn'>): Configuration {
  const text = textOf(file);
  const onNote = (problem: string): void => {
    log.warn({ file, problem }, 'configuration key has no effect');
  };
  const document = documentIn(text, file);
  const name = nameIn(document, file);
  if (before.deployers?.[name]) {
    throw new UsageError(
      `configuration ${file}: another --deployer-config is that of the ${name} deployer, too`,
    );
  }
  const own = settingsIn(text, file, { more: keysOf[name], onNote });
  const shared = sharedParts(name, document, file, onNote);
  return {
    ...before,
    registry: registryWith(before.registry, registrySettings(shared, file)),
    container: containerSettings(shared, before.container),
    deployers: { ...before.deployers, [name]: own },
  };
}

/** The parts that belong into a LandscaperConfiguration. */
function sharedParts(name: DeployerName, document: Fields, file: string, onNote: (problem: string) => void) {
  const used = (key: string): boolean => keysOf[name][key] === true;
  const oci = Object.entries(fieldsOf(withoutZeroValues(document['oci']))).filter(([key]) =>
    used(`oci.${key}`),
  );
  const container = name === 'container' ? containerPart(document, onNote) : {};
  const result = configurationSchema.safeParse({ registry: { oci: Object.fromEntries(oci) }, container });
  if (result.success) return result.data;
  const message = firstError(result.error).replace(/^(registry|container)\./, '');
  throw new UsageError(`configuration ${file}: ${message}`);
}

/** Upstream's chart always names images with upstream's programs; they do not accept the command of Espalier's. */
function containerPart(document: Fields, onNote: (problem: string) => void): Fields {
  const parts = Object.keys(CONTAINER_KEYS).map((key) => key.split('.')[0] ?? '');
  const entries = [...new Set(parts)].flatMap((key) => {
    const value = withoutZeroValues(document[key]);
    if (value === undefined) return [];
    const isProgram = key === 'initContainer' || key === 'waitContainer';
    if (!isProgram || ownField(value, 'command') !== undefined) return [[key, value] as const];
    onNote(
      `${key} has no effect here: without a command, its image is that of upstream's program, and Espalier has its own; to use another image, set container.${key} in the LandscaperConfiguration`,
    );
    return [];
  });
  return Object.fromEntries(entries);
}

/** Upstream does not distinguish an empty string or the number 0 from a missing value. */
function withoutZeroValues(value: unknown): unknown {
  if (value === '' || value === 0) return undefined;
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]) => [key, withoutZeroValues(each)] as const)
      .filter(([, each]) => each !== undefined),
  );
}

/** All registries of the process are used with the same settings. */
const registryWith = (
  before: Configuration['registry'],
  { configFiles = [], allowPlainHttp }: Configuration['registry'],
): Configuration['registry'] => ({
  ...before,
  ...(allowPlainHttp && { allowPlainHttp }),
  ...(configFiles.length > 0 && {
    configFiles: [
      ...(before.configFiles ?? []),
      ...configFiles.map(({ path, key }) => ({ path, key: key.replace(/^registry\./, '') })),
    ],
  }),
});

function nameIn(document: Fields, file: string): DeployerName {
  const { apiVersion } = document;
  const found = deployerNames.find(
    (name) =>
      typeof apiVersion === 'string' && apiVersion.startsWith(`${name}.deployer.landscaper.gardener.cloud/`),
  );
  if (found) return found;
  throw new UsageError(
    `configuration ${file}: apiVersion: must be that of a deployer, such as helm.deployer.landscaper.gardener.cloud/v1alpha1; deployers are ${deployerNames.join(', ')}`,
  );
}

function settingsIn(text: string, file: string, options: Parameters<typeof readSettings>[2]) {
  try {
    return readSettings(text, `configuration ${file}`, options);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

function documentIn(text: string, file: string): Fields {
  try {
    return fieldsOf(parseYaml(text));
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    throw new UsageError(`cannot read configuration ${file}: ${line}`, { cause: error });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read configuration ${file}: ${(error as Error).message}`, { cause: error });
  }
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
