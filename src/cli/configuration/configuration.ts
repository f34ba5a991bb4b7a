/** The configuration: what a file with upstream's LandscaperConfiguration says, as far as Espalier has a use for it. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import type { HealthSettings } from '../../../controllers/health/index.ts';
import type { VerificationPolicy } from '../../../controllers/installation/gather/verification.ts';
import { defaultLimits, type InstallationLimits } from '../../api/limits.ts';
import { isDuration, parseDuration } from '../../lib/duration.ts';
import { parseYaml } from '../../lib/yaml.ts';
import { DEFAULT_REMOTE_RETRY_MS } from '../../machine/remote.ts';
import { DEFAULT_TREE_DEPTH } from '../../landscape/tree.ts';
import { DEFAULT_TREE_OBJECTS } from '../../landscape/tree-size.ts';
import type { Logger } from '../../observability/log.ts';
import type { ResponseSettings } from '../../runtime/transport/responses.ts';
import { noteKeys } from './keys.ts';
import { configurationSchema, type ConfigurationFile } from './schema.ts';
import { UsageError } from '../errors.ts';
import {
  defaultSettings,
  type ContainerSettings,
  type ProgramSpec,
} from '../../../deployers/container/settings.ts';

export interface Configuration {
  /** How many objects each controller works on at a time. */
  readonly workers: {
    readonly installation: number;
    readonly execution: number;
    readonly deployitem: number;
    readonly context: number;
    readonly targetsync: number;
  };
  /** How long a deploy item may wait for a deployer; 0: for ever. */
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
    readonly cacheBytes?: number;
  };
  /** What templates, mappings and schemas may use. */
  readonly templating: {
    readonly limits?: {
      readonly timeoutMs?: number;
      readonly maxOutputBytes?: number;
      readonly maxSteps?: number;
    };
    readonly workers?: number;
    readonly memoryMiB?: number;
  };
  /** What a single tree, each installation of it, and the servers that tenants name, may use; an addition of ours. */
  readonly limits: InstallationLimits & {
    /** How many levels of installations a tree may have. */
    readonly treeDepth: number;
    /** How many installations, executions and deploy items it may have. */
    readonly treeObjects: number;
    /** How large answers may be, where the file says so. */
    readonly responses?: ResponseSettings;
    /** How long a job tries again while a server that it needs cannot be used, in milliseconds; Infinity: no limit. */
    readonly remoteRetryMs: number;
  };
  /** Which components must be signed; default: those of installations that ask for it. */
  readonly verification?: VerificationPolicy;
  /** How charts are handled; an addition of ours. */
  readonly helm: {
    readonly executable?: string;
    readonly cacheBytes?: number;
    readonly staticCapabilities?: boolean;
  };
  /** Where and how the container deployer runs pods; upstream has it in a file of the deployer's own. */
  readonly container: ContainerSettings;
  /** Whether the CustomResourceDefinitions installed or updated at the start. */
  readonly installsCrds: boolean;
  /** Deployments of the system itself; without it their health is not checked. */
  readonly health?: HealthSettings;
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
    treeDepth: DEFAULT_TREE_DEPTH,
    treeObjects: DEFAULT_TREE_OBJECTS,
    remoteRetryMs: DEFAULT_REMOTE_RETRY_MS,
    ...defaultLimits,
  },
  helm: {},
  container: defaultSettings,
  installsCrds: true,
};

/**
 * @param log hears of keys that are unknown or without effect
 * @throws UsageError in one line, naming the file, the key and what is wrong with it
 */
export function readConfiguration(file: string, log?: Pick<Logger, 'info' | 'warn'>): Configuration {
  const document = readDocument(file);
  const result = configurationSchema.safeParse(document);
  if (!result.success) throw new UsageError(`configuration ${file}: ${mistake(result.error)}`);

  const notes = noteKeys(document);
  for (const note of notes.unknown) log?.warn({ file, problem: note }, 'unknown configuration key');
  for (const note of notes.unused) log?.info({ file, problem: note }, 'configuration key has no effect');

  const { controllers, deployItemTimeouts, lsDeployments: deployments, crdManagement } = result.data;
  const { signatureVerificationEnforcementPolicy: policy } = result.data;
  return {
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
    ...(policy && { verification: policy }),
    ...(deployments && { health: healthOf(deployments) }),
  };
}

/** The first mistake, with the path of the key it is in. */
function mistake(error: z.ZodError): string {
  const [issue] = error.issues;
  const path = issue?.path.join('.') ?? '';
  const what = issue?.message ?? 'is wrong';
  return path === '' ? what : `${path}: ${what}`;
}

/** The repository at the top is the old place of the one below. */
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
  const responses = given({ targetResponseMiB, targetResponseDepth, hostResponseMiB, downloadMiB });
  return {
    ...defaults.limits,
    ...given(others),
    ...(retryMs !== undefined && { remoteRetryMs: retryMs === 0 ? Infinity : retryMs }),
    ...(Object.keys(responses).length > 0 && { responses }),
  };
}

/** Numbers that the file has; null stands for the default, too. */
const given = (settings: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );

/** Relative paths are those of the configuration file. */
function registrySettings({ registry }: ConfigurationFile, file: string): Configuration['registry'] {
  const { local, oci, cacheSize } = registry ?? {};
  return {
    ...(local?.rootPath && { localRoot: resolve(dirname(file), local.rootPath) }),
    ...(oci?.allowPlainHttp && { allowPlainHttp: true }),
    ...(typeof cacheSize === 'number' && { cacheBytes: cacheSize }),
  };
}

/** A program without a folder is looked for on the PATH. */
function helmSettings({ helm }: ConfigurationFile, file: string): Configuration['helm'] {
  const { executable, chartCacheSize, staticCapabilities } = helm ?? {};
  const isPath = executable?.includes('/');
  return {
    ...(executable && { executable: isPath ? resolve(dirname(file), executable) : executable }),
    ...(typeof chartCacheSize === 'number' && { cacheBytes: chartCacheSize }),
    ...(staticCapabilities && { staticCapabilities: true }),
  };
}

/** A program without an image is that of this version; one with an image says what to run in it. */
function containerSettings({ container }: ConfigurationFile): ContainerSettings {
  const { namespace, defaultImage, initContainer, waitContainer, garbageCollection, debug } = container ?? {};
  const { disable, requeueTimeSeconds } = garbageCollection ?? {};
  const ms = requeueTimeSeconds ? requeueTimeSeconds * 1000 : undefined;
  return {
    namespace: namespace ?? defaultSettings.namespace,
    defaultImage: defaultImage?.image ?? defaultSettings.defaultImage,
    init: programOf(initContainer, defaultSettings.init),
    wait: programOf(waitContainer, defaultSettings.wait),
    garbageCollection: {
      isDisabled: disable ?? defaultSettings.garbageCollection.isDisabled,
      everyMs: ms ?? defaultSettings.garbageCollection.everyMs,
    },
    keepsEndedPods: debug?.keepPod ?? defaultSettings.keepsEndedPods,
  };
}

type GivenProgram = NonNullable<ConfigurationFile['container']>['initContainer'];

function programOf(given: GivenProgram, usual: ProgramSpec): ProgramSpec {
  const { image, command, args } = given ?? {};
  const called = command ?? (args ? undefined : usual.command);
  return { image: image ?? usual.image, ...(called && { command: called }), ...(args && { args }) };
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

function readDocument(file: string): unknown {
  try {
    return parseYaml(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    throw new UsageError(`cannot read configuration ${file}: ${line}`, { cause: error });
  }
}

type Controllers = ConfigurationFile['controllers'];

/** Upstream's chart and documents spell the key one way, its code another. */
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

/** Milliseconds of a duration; undefined when the key has no value. @throws UsageError */
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
