/** The configuration: a file with upstream's LandscaperConfiguration, converted to Espalier's settings. */
import { textOfYaml } from '../../lib/yaml-bytes.ts';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import type { HealthSettings } from '../../../controllers/health/index.ts';
import type { VerificationPolicy } from '../../../controllers/installation/gather/verification.ts';
import { defaultJournal, type JournalSettings } from '../../api/journal.ts';
import { defaultLimits, type InstallationLimits } from '../../api/limits.ts';
import type { ConfiguredFile } from '../../components/configured-files.ts';
import { defaultComponentLimits, type ComponentLimits } from '../../components/resolve.ts';
import { isDuration, parseDuration } from '../../lib/duration.ts';
import type { LocalAddresses } from '../../lib/local-addresses.ts';
import { ownField } from '../../lib/objects.ts';
import { parseYaml } from '../../lib/yaml.ts';
import { DEFAULT_REMOTE_RETRY_MS } from '../../machine/remote.ts';
import { defaultTreeLimits, type TreeLimits } from '../../landscape/tree-limit.ts';
import type { Logger } from '../../observability/log.ts';
import type { TracingConfiguration } from '../../observability/tracing/settings.ts';
import type { ResponseSettings } from '../../runtime/transport/responses.ts';
import { checkKeys } from './keys.ts';
import { configurationSchema, type ConfigurationFile } from './schema.ts';
import { UsageError } from '../errors.ts';
import type { DeployerName } from '../names.ts';
import type { DeployerSettings, ReadinessRules } from '../../../deployers/sdk/deployer.ts';
import { defaultSettings, type ContainerSettings } from '../../../deployers/container/settings.ts';
import { containerSettings } from './container.ts';
import { tracingIn } from './tracing.ts';

export interface Configuration {
  /** Number of parallel reconciles of each controller. */
  readonly workers: {
    readonly installation: number;
    readonly execution: number;
    readonly deployitem: number;
    readonly context: number;
    readonly targetsync: number;
  };
  /** Namespaces of the objects that controllers and deployers read and reconcile; undefined: all. */
  readonly watchNamespaces?: readonly string[];
  /** How long a deploy item may wait for a deployer; 0: forever. */
  readonly pickupTimeoutMs: number;
  readonly contexts: {
    /** No namespace gets a default Context. */
    readonly isDisabled?: boolean;
    readonly excludedNamespaces?: readonly string[];
    readonly repositoryContext?: Record<string, unknown>;
  };
  /** How components are read. */
  readonly registry: {
    readonly localRoot?: string;
    readonly allowPlainHttp?: boolean;
    readonly localAddresses?: LocalAddresses;
    readonly configFiles?: readonly ConfiguredFile[];
    readonly caFiles?: readonly ConfiguredFile[];
    readonly cacheBytes?: number;
  };
  /** Limits for templates, mappings and schemas. */
  readonly templating: {
    readonly limits?: {
      readonly timeoutMs?: number;
      readonly maxOutputBytes?: number;
      readonly maxSteps?: number;
    };
    readonly workers?: number;
    readonly memoryMiB?: number;
  };
  /**
   * Limits for a tree, for each installation of it, and for responses of servers that tenants specify; an addition
   * of ours.
   */
  readonly limits: InstallationLimits &
    ComponentLimits &
    TreeLimits & {
      /** Size limits for responses, if configured. */
      readonly responses?: ResponseSettings;
      /** How long a job retries requests to unavailable servers, in milliseconds; Infinity: no limit. */
      readonly remoteRetryMs: number;
    };
  /** Which components must be signed; default: those of installations that require it. */
  readonly verification?: VerificationPolicy;
  /** How charts are handled; an addition of ours. */
  readonly helm: {
    readonly executable?: string;
    readonly cacheBytes?: number;
    readonly staticCapabilities?: boolean;
  };
  /** Settings for the container deployer's pods; upstream has a separate file for them. */
  readonly container: ContainerSettings;
  /** Settings from the configuration files of single deployers. */
  readonly deployers?: Partial<Record<DeployerName, OwnSettings>>;
  /** Whether objects get the conditions Ready, Reconciling and Stalled; an addition of ours. */
  readonly hasReadyConditions: boolean;
  /** Whether values of secrets in names of objects are only reported. */
  readonly allowsSecretsInNames: boolean;
  /** When objects on targets are ready; an addition of ours. */
  readonly readiness: ReadinessRules;
  /** Whether unknown fields of blueprints and of configurations of deploy items fail the job. */
  readonly isStrict: boolean;
  /** Which jobs are recorded, and for how long; undefined: none. */
  readonly journal?: JournalSettings;
  /** Whether traces are exported, and where to; undefined: as the environment variables say. */
  readonly tracing?: TracingConfiguration;
  /** Whether the CustomResourceDefinitions are installed or updated at the start. */
  readonly installsCrds: boolean;
  /** Deployments of the system itself; undefined: no health check. */
  readonly health?: HealthSettings;
}

/** What the configuration file of a deployer sets for this deployer only. */
interface OwnSettings {
  readonly settings: DeployerSettings;
  readonly identity: string | undefined;
}

const DEFAULT_WORKERS = 30;

export const defaults: Configuration = {
  workers: {
    installation: DEFAULT_WORKERS,
    execution: DEFAULT_WORKERS,
    deployitem: 5,
    context: 5,
    targetsync: 5,
  },
  pickupTimeoutMs: 5 * 60_000,
  contexts: {},
  registry: {},
  templating: {},
  limits: {
    ...defaultTreeLimits,
    remoteRetryMs: DEFAULT_REMOTE_RETRY_MS,
    ...defaultLimits,
    ...defaultComponentLimits,
  },
  helm: {},
  container: defaultSettings,
  hasReadyConditions: true,
  allowsSecretsInNames: false,
  readiness: 'kstatus',
  isStrict: false,
  installsCrds: true,
};

/**
 * @param log receives warnings about unknown or unused keys
 * @throws UsageError of one line, with the file, the key and the error
 */
export function readConfiguration(file: string, log?: Pick<Logger, 'info' | 'warn'>): Configuration {
  return configurationOf(readDocument(file), file, log);
}

/** The settings of a document. Errors and warnings name the file. @throws UsageError as `readConfiguration` */
export function configurationOf(
  document: unknown,
  file: string,
  log?: Pick<Logger, 'info' | 'warn'>,
): Configuration {
  if (ownField(document, 'kind') === 'Configuration') {
    throw new UsageError(
      `configuration ${file}: kind: Configuration is that of a single deployer; pass the file with --deployer-config, and a LandscaperConfiguration with --config`,
    );
  }
  const result = configurationSchema.safeParse(document);
  if (!result.success) throw new UsageError(`configuration ${file}: ${firstError(result.error)}`);

  const notes = checkKeys(document);
  for (const note of notes.unknown) log?.warn({ file, problem: note }, 'unknown configuration key');
  for (const note of notes.unused) log?.info({ file, problem: note }, 'configuration key has no effect');

  const { controllers, deployItemTimeouts, lsDeployments: deployments, crdManagement } = result.data;
  const { signatureVerificationEnforcementPolicy: policy, watchNamespaces } = result.data;
  return {
    ...plainSettings(result.data),
    workers: workersOf(controllers),
    pickupTimeoutMs:
      durationAt(file, 'deployItemTimeouts.pickup', deployItemTimeouts?.pickup) ?? defaults.pickupTimeoutMs,
    contexts: contextSettings(result.data),
    registry: registrySettings(result.data, file),
    templating: templatingSettings(result.data, file),
    limits: limitSettings(result.data, file),
    helm: helmSettings(result.data, file),
    container: containerSettings(result.data),
    installsCrds: crdManagement?.deployCrd ?? defaults.installsCrds,
    ...(watchNamespaces?.length && { watchNamespaces: [...new Set(watchNamespaces)] }),
    ...(policy && { verification: policy }),
    ...(deployments && { health: healthOf(deployments) }),
    ...(result.data.journal?.enabled && { journal: journalSettings(result.data, file) }),
    ...(result.data.tracing && { tracing: tracingIn(result.data.tracing) }),
  };
}

/** Settings that have the values of the file. */
const plainSettings = (file: ConfigurationFile) => ({
  hasReadyConditions: file.readyConditions ?? defaults.hasReadyConditions,
  readiness: file.readiness ?? defaults.readiness,
  isStrict: file.strict ?? defaults.isStrict,
  allowsSecretsInNames: file.secretsInNames === 'warn',
});

/** The first error, with the path of its key. */
export function firstError(error: z.ZodError): string {
  const [issue] = error.issues;
  const path = issue?.path.join('.') ?? '';
  const what = issue?.message ?? 'is wrong';
  return path === '' ? what : `${path}: ${what}`;
}

/** The repository at the top level is an old location of the setting. */
function contextSettings(file: ConfigurationFile): Configuration['contexts'] {
  const { disable, excludedNamespaces, excludeNamespaces, repositoryContext } =
    contextsIn(file.controllers)?.config?.default ?? {};
  const excluded = excludedNamespaces ?? excludeNamespaces;
  const repository = repositoryContext ?? file.repositoryContext;
  return {
    ...(disable && { isDisabled: true }),
    ...(excluded && { excludedNamespaces: excluded }),
    ...(repository && { repositoryContext: repository }),
  };
}

function limitSettings({ limits }: ConfigurationFile, file: string): Configuration['limits'] {
  const retryMs = durationAt(file, 'limits.remoteRetryTimeout', limits?.remoteRetryTimeout);
  const { targetResponseMiB, targetResponseDepth, hostResponseMiB, downloadMiB, ...others } = limits ?? {};
  const responses = numbersIn({ targetResponseMiB, targetResponseDepth, hostResponseMiB, downloadMiB });
  return {
    ...defaults.limits,
    ...numbersIn(others),
    ...(retryMs !== undefined && { remoteRetryMs: retryMs === 0 ? Infinity : retryMs }),
    ...(Object.keys(responses).length > 0 && { responses }),
  };
}

/** Numbers that the file contains; null means the default. */
const numbersIn = (settings: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );

function journalSettings({ journal }: ConfigurationFile, file: string): JournalSettings {
  const maxAgeMs = durationAt(file, 'journal.maxAge', journal?.maxAge);
  return {
    jobsPerRoot: journal?.jobsPerRoot ?? defaultJournal.jobsPerRoot,
    maxAgeMs: maxAgeMs === 0 ? Infinity : (maxAgeMs ?? defaultJournal.maxAgeMs),
    recordBytes: (journal?.recordKiB ?? defaultJournal.recordBytes / 1024) * 1024,
    keepAfterDeletion: journal?.keepAfterDeletion ?? defaultJournal.keepAfterDeletion,
  };
}

/** Relative paths are relative to the configuration file. */
export function registrySettings({ registry }: ConfigurationFile, file: string): Configuration['registry'] {
  const { local, oci, cacheSize, caFiles, allowLocalAddresses } = registry ?? {};
  return {
    ...(local?.rootPath && { localRoot: resolve(dirname(file), local.rootPath) }),
    ...(oci?.allowPlainHttp && { allowPlainHttp: true }),
    ...(allowLocalAddresses && { localAddresses: 'all' as const }),
    ...(oci?.configFiles?.length && {
      configFiles: filesAt(file, 'registry.oci.configFiles', oci.configFiles),
    }),
    ...(caFiles?.length && { caFiles: filesAt(file, 'registry.caFiles', caFiles) }),
    ...(typeof cacheSize === 'number' && { cacheBytes: cacheSize }),
  };
}

/** @param key of the list, for messages */
const filesAt = (file: string, key: string, paths: readonly string[]): readonly ConfiguredFile[] =>
  paths.map((path, i) => ({ path: resolve(dirname(file), path), key: `${key}[${String(i)}]` }));

/** A program name without a folder is searched on the PATH. */
function helmSettings({ helm }: ConfigurationFile, file: string): Configuration['helm'] {
  const { executable, chartCacheSize, staticCapabilities } = helm ?? {};
  const isPath = executable?.includes('/');
  return {
    ...(executable && { executable: isPath ? resolve(dirname(file), executable) : executable }),
    ...(typeof chartCacheSize === 'number' && { cacheBytes: chartCacheSize }),
    ...(staticCapabilities && { staticCapabilities: true }),
  };
}

function healthOf(deployments: NonNullable<ConfigurationFile['lsDeployments']>): HealthSettings {
  const { lsController, lsMainController, webHook, additionalDeployments } = deployments;
  const own = [lsController, lsMainController, webHook].filter((text) => typeof text === 'string');
  return {
    namespace: deployments.deploymentsNamespace,
    name: deployments.lsHealthCheckName,
    deployments: [...new Set([...own, ...(additionalDeployments?.deployments ?? [])])],
  };
}

/** The document of a file; an empty map if it is empty. @throws UsageError */
export function readDocument(file: string): unknown {
  try {
    return parseYaml(textOfYaml(readFileSync(file))) ?? {};
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    throw new UsageError(`cannot read configuration ${file}: ${line}`, { cause: error });
  }
}

type Controllers = ConfigurationFile['controllers'];

/** Upstream's chart and documentation spell the key differently from its code. */
const contextsIn = (controllers: Controllers): NonNullable<Controllers>['contexts'] =>
  controllers?.contexts ?? controllers?.context;

function workersOf(controllers: Controllers): Configuration['workers'] {
  const { workers } = defaults;
  return {
    installation: controllers?.installations?.workers ?? workers.installation,
    execution: controllers?.executions?.workers ?? workers.execution,
    deployitem: controllers?.deployItems?.workers ?? workers.deployitem,
    context: contextsIn(controllers)?.workers ?? workers.context,
    targetsync: workers.targetsync,
  };
}

/** Milliseconds of a duration; undefined if the key has no value. @throws UsageError */
function durationAt(file: string, key: string, text: string | null | undefined): number | undefined {
  if (text === undefined || text === null) return undefined;
  const ms = isDuration(text) ? parseDuration(text) : -1;
  if (ms >= 0) return ms;
  throw new UsageError(
    `configuration ${file}: ${key}: "${text}" is not a duration; use a value like 5m, or "none"`,
  );
}

function templatingSettings({ templating }: ConfigurationFile, file: string): Configuration['templating'] {
  const { timeout, maxOutputBytes, maxSteps, workers, memoryMiB } = templating ?? {};
  const timeoutMs = durationAt(file, 'templating.timeout', timeout);
  if (timeoutMs === 0) {
    throw new UsageError(
      `configuration ${file}: templating.timeout: templates need a timeout; use a value like 10s`,
    );
  }
  const limits = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(typeof maxOutputBytes === 'number' && { maxOutputBytes }),
    ...(typeof maxSteps === 'number' && { maxSteps }),
  };
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(typeof workers === 'number' && { workers }),
    ...(typeof memoryMiB === 'number' && { memoryMiB }),
  };
}
