/** Plans the next job of an installation, or of a deploy item, for the commands that show, save or compare plans. */
import { setMaxListeners } from 'node:events';
import { componentFinder } from '../../../../controllers/installation/gather/component.ts';
import { connectorOf, targetReaderOf } from '../../../../deployers/sdk/controller.ts';
import { withoutWrites } from '../../../../deployers/sdk/plan.ts';
import type { Obj } from '../../../runtime/types.ts';
import { inThisThread } from '../../../blueprint/work.ts';
import { createComponentRepositories } from '../../../components/component-repositories.ts';
import { Closing } from '../../../lib/closing.ts';
import { append } from '../../../lib/lists.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import { ownersOf } from '../../../landscape/tree.ts';
import { secretKind } from '../../../landscape/world.ts';
import { silentLogger } from '../../../observability/log.ts';
import { createCaches } from '../../../runtime/cache/cache.ts';
import { createClientPool } from '../../../runtime/transport/client-pool.ts';
import { readOnly } from '../../../runtime/transport/read-only.ts';
import type { Cluster } from '../../cluster.ts';
import { defaults, readConfiguration, type Configuration } from '../../configuration/configuration.ts';
import { CommandError } from '../../errors.ts';
import { planDeployItem } from './plan-items.ts';
import { planInstallation } from './plan-tree.ts';
import type { PlanningOptions } from './options.ts';
import type { PlannedTree, PlanPorts } from './planned.ts';
import { ownDeployers, type OwnDeployers } from './own-deployers.ts';
import { readManagers, readWorld } from './current-objects.ts';
import { pluginsByType, strictTypes } from '../../composition/plugins.ts';
import { maskOver, type Mask } from '../blueprints/rendering/mask.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import { TreeBudget } from '../../tree/budget.ts';
import type { Inst } from '../../../../controllers/installation/related-objects.ts';
import { selfCommand } from '../../self-command.ts';

/** What plans depend on besides the clusters. */
export interface PlanSettings {
  readonly configuration: Configuration;
  /** Deployers of the user; those with a type replace those of the program. */
  readonly own: OwnDeployers;
}

/** @throws UsageError, CommandError if a file cannot be read */
export async function planSettings(options: PlanningOptions): Promise<PlanSettings> {
  const { config, deployer = [], registryCredentials = true } = options;
  const configuration = config === undefined ? defaults : readConfiguration(config);
  const { configFiles: _, ...registry } = configuration.registry;
  // Without credentials it runs in the pod of the console, for another user.
  const foreign: Configuration = { ...configuration, registry: { localAddresses: 'none', ...registry } };
  return {
    configuration: registryCredentials ? configuration : foreign,
    own: await ownDeployers(deployer),
  };
}

export interface MadePlan {
  readonly tree: PlannedTree;
  readonly mask: Mask;
  /** The installation as it was planned; undefined for a single deploy item. */
  readonly installation: Inst | undefined;
}

/** @throws CommandError if there is no such object, or if the user interrupts the command */
export async function makePlan(
  name: string,
  settings: PlanSettings & { readonly isDelete: boolean },
  cluster: Cluster,
): Promise<MadePlan> {
  const closing = new Closing();
  const interruption = onInterrupt();
  const { client, clock } = cluster;
  // Own caches, because they stop with the plan.
  const caches = createCaches({ client, clock, rng: secureRng, log: silentLogger });
  try {
    return await Promise.race([
      planned(name, { ...settings, cluster: { ...cluster, caches }, closing }),
      aborted(interruption.signal).then(() => {
        throw new CommandError('interrupted; nothing has been changed');
      }),
    ]);
  } finally {
    interruption.release();
    await closing.close();
  }
}

interface Stage extends PlanSettings {
  readonly cluster: Cluster;
  readonly closing: Closing;
  /** Whether the plan is that of a deletion. */
  readonly isDelete: boolean;
}

async function planned(name: string, stage: Stage): Promise<MadePlan> {
  const { cluster, closing } = stage;
  // An object that is being deleted is planned as such.
  const isDelete = stage.isDelete || undefined;
  const { namespace } = cluster;
  const { signal } = closing;
  setMaxListeners(0, signal); // every request adds a listener
  const world = await readWorld(cluster, signal);
  const key = `${namespace}/${name}`;
  const ports = { ...portsFor(stage), managersOf: await readManagers(cluster, world, signal) };
  // eslint-disable-next-line no-restricted-syntax -- once for each command
  await collectSecrets(world.targets.list(), ports);
  const installation = world.installations.get(key);
  if (installation) {
    const above = ownersOf(world, installation).length;
    const budget = new TreeBudget(stage.configuration.limits, above);
    const tree = await planInstallation(installation, name, world, { ...ports, budget }, isDelete);
    return { tree, mask: maskOver(ports.secrets), installation };
  }
  const item = world.deployItems.get(key);
  if (item) {
    const items = [await planDeployItem(item, world, ports, isDelete)];
    const tree = { items, problems: [], waits: [] };
    return { tree, mask: maskOver(ports.secrets), installation: undefined };
  }
  throw new CommandError(
    `there is no installation or deploy item ${name} in namespace ${namespace}; choose another with -n, ` +
      `or list all with: ${selfCommand()} installations inspect -A`,
  );
}

/** The host cluster is only read, except for requests of service account tokens that targets need. */
function portsFor({ cluster, configuration, closing, own }: Stage): Omit<PlanPorts, 'managersOf'> {
  const { client, clock } = cluster;
  const { signal } = closing;
  const rng = secureRng;
  const log = silentLogger;
  const repositories = createComponentRepositories({
    clock,
    rng,
    signal,
    ...configuration.registry,
    componentLimits: configuration.limits,
  });
  closing.add(() => repositories.close());
  // Templates run in this process, because starting another one takes longer than running them.
  const { limits } = configuration.templating;
  const runner = inThisThread({ clock, rng, ...(limits && { limits }) });
  const open = connectorOf({ clock, log, rng });
  const guarded = readOnly(client);
  const sources = createClientPool(clock, async (kubeconfig) => (await open(kubeconfig)).client);
  closing.add(() => sources.close());
  const { verification } = configuration;
  const plugins = new Map([...pluginsByType(configuration, guarded, signal), ...own.byType]);
  return {
    client: guarded,
    sources,
    runnerOf: () => runner,
    clock,
    rng,
    log,
    signal,
    budget: new TreeBudget(configuration.limits),
    limits: configuration.limits,
    isStrict: configuration.isStrict,
    allowsSecretsInNames: configuration.allowsSecretsInNames,
    strictTypes: strictTypes(configuration),
    findComponent: componentFinder({ client: guarded, repositories, ...(verification && { verification }) }),
    pluginOf: (type) => plugins.get(type) ?? own.ofOtherType?.(type),
    reader: targetReaderOf({
      client,
      clock,
      log,
      rng,
      signal,
      self: cluster.self,
      connect: async (kubeconfig) => withoutWrites(await open(kubeconfig)),
    }),
    secrets: [],
  };
}

/** Collects the content of targets, so that it is masked in the output even if a template copies it. */
async function collectSecrets(targets: Iterable<unknown>, { client, secrets }: PlanPorts): Promise<void> {
  for (const target of targets) {
    const { metadata, spec } = target as Obj & { spec: { config?: unknown; secretRef?: { name: string } } };
    if (spec.config !== undefined) secrets.push(spec.config);
    if (!spec.secretRef) continue;
    const key = `${metadata.namespace ?? ''}/${spec.secretRef.name}`;
    const secret = await client.get(secretKind, key).catch(() => undefined);
    const values = Object.values(secret?.data ?? {});
    append(
      secrets,
      values.map((value) => Buffer.from(value, 'base64').toString('utf8')),
    );
  }
}
