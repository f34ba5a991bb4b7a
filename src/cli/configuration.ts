/** The configuration file: upstream's LandscaperConfiguration, as far as Espalier has a use for it. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { HealthSettings } from '../../controllers/health/index.ts';
import { isDuration, parseDuration } from '../lib/duration.ts';
import { parseYaml } from '../lib/yaml.ts';
import { UsageError } from './errors.ts';

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
    readonly excludedNamespaces?: readonly string[];
    readonly repositoryContext?: Record<string, unknown>;
  };
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
};

const name = z.string().min(1);
const lsDeployments = z.looseObject({
  lsController: name.optional(),
  lsMainController: name.optional(),
  webHook: name.optional(),
  deploymentsNamespace: name,
  lsHealthCheckName: name,
  additionalDeployments: z.looseObject({ deployments: z.array(name).nullish() }).nullish(),
});
const controller = z.looseObject({ workers: z.int().positive().optional() }).optional();
const contexts = z
  .looseObject({
    workers: z.int().positive().optional(),
    config: z
      .looseObject({
        default: z
          .looseObject({
            excludedNamespaces: z.array(z.string()).optional(),
            excludeNamespaces: z.array(z.string()).optional(),
            repositoryContext: z.record(z.string(), z.unknown()).optional(),
          })
          .optional(),
      })
      .optional(),
  })
  .optional();
const schema = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.literal('LandscaperConfiguration').optional(),
  controllers: z
    .looseObject({
      installations: controller,
      executions: controller,
      deployItems: controller,
      contexts,
      context: contexts,
    })
    .optional(),
  deployItemTimeouts: z.looseObject({ pickup: z.string().optional() }).optional(),
  lsDeployments: lsDeployments.nullish(),
});

/** @throws UsageError naming the file and what is wrong with it */
export function readConfiguration(file: string): Configuration {
  const result = schema.safeParse(readDocument(file));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new UsageError(
      `configuration ${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is wrong'}`,
    );
  }
  const { controllers, deployItemTimeouts, lsDeployments: deployments } = result.data;
  const context = contextsIn(controllers)?.config?.default;
  const { repositoryContext, excludedNamespaces = context?.excludeNamespaces } = context ?? {};
  return {
    workers: workersOf(controllers),
    pickupTimeoutMs: pickup(file, deployItemTimeouts?.pickup),
    contexts: {
      ...(excludedNamespaces && { excludedNamespaces }),
      ...(repositoryContext && { repositoryContext }),
    },
    ...(deployments && { health: healthOf(deployments) }),
  };
}

function healthOf(deployments: z.infer<typeof lsDeployments>): HealthSettings {
  const { lsController, lsMainController, webHook, additionalDeployments } = deployments;
  const own = [lsController, lsMainController, webHook].filter((text) => text !== undefined);
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

type Controllers = z.infer<typeof schema>['controllers'];

/** Upstream's chart and documents spell the key one way, its code another. */
const contextsIn = (controllers: Controllers): z.infer<typeof contexts> =>
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

function pickup(file: string, text: string | undefined): number {
  if (text === undefined) return defaults.pickupTimeoutMs;
  const ms = isDuration(text) ? parseDuration(text) : -1;
  if (ms < 0) {
    throw new UsageError(
      `configuration ${file}: deployItemTimeouts.pickup: "${text}" is no duration such as 5m or none`,
    );
  }
  return ms;
}
