/** `espalier plan`: shows what the next job of an installation, or of a deploy item, would change on its targets. */
import { setMaxListeners } from 'node:events';
import { componentFinder } from '../../../../controllers/installation/gather/component.ts';
import { connectorOf, targetReaderOf } from '../../../../deployers/sdk/controller.ts';
import type { DeployerPlugin } from '../../../../deployers/sdk/index.ts';
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
import { createClientPool } from '../../../runtime/transport/client-pool.ts';
import { readOnly } from '../../../runtime/transport/read-only.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { defaults, readConfiguration, type Configuration } from '../../configuration/configuration.ts';
import { printJson } from '../../terminal/documents.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import { countsOf, hasChanges, planDocument, planLines } from './print.ts';
import { planDeployItem } from './plan-items.ts';
import { planInstallation } from './plan-tree.ts';
import type { PlannedTree, PlanPorts } from './planned.ts';
import { ownDeployers } from './own-deployers.ts';
import { readManagers, readWorld } from './current-objects.ts';
import { pluginsByType, strictTypes } from '../../composition/plugins.ts';
import { maskOver } from '../blueprints/rendering/mask.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import { TreeBudget } from '../../tree/budget.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface PlanOptions extends NamespacedOptions {
  readonly output: 'text' | 'json';
  readonly delete?: true;
  readonly showDetails?: true;
  readonly exitCode?: true;
  readonly config?: string;
  readonly deployer?: readonly string[];
}

/** Exit code with `--exit-code` if something would change, as with `terraform plan`. */
const CHANGES = 2;

/** @returns 0; 1 if the job would fail; with `--exit-code` 2 if it would change something */
export async function plan(name: string, options: PlanOptions, terminal: Terminal): Promise<number> {
  const configuration = options.config === undefined ? defaults : readConfiguration(options.config);
  const own = await ownDeployers(options.deployer ?? []);
  return withCluster(options, terminal, async (cluster) => {
    const closing = new Closing();
    const interruption = onInterrupt();
    try {
      const { ports, tree } = await Promise.race([
        planned(name, options, { cluster, configuration, closing, own }),
        aborted(interruption.signal).then(() => {
          throw new CommandError('interrupted; nothing has been changed');
        }),
      ]);
      const mask = maskOver(ports.secrets);
      if (options.output === 'json') terminal.print(printJson(planDocument(tree, mask)));
      else {
        const printing = { paint: terminal.paint, mask, hasDetails: options.showDetails === true };
        for (const line of planLines(tree, printing)) terminal.print(line);
      }
      const counts = countsOf(tree);
      if (counts.problems > 0) return exitCodes.failed;
      return options.exitCode && hasChanges(counts) ? CHANGES : exitCodes.ok;
    } finally {
      interruption.release();
      await closing.close();
    }
  });
}

interface Stage {
  readonly cluster: Cluster;
  readonly configuration: Configuration;
  readonly closing: Closing;
  /** Deployers of the user; they replace those of the program. */
  readonly own: ReadonlyMap<string, DeployerPlugin>;
}

async function planned(
  name: string,
  { delete: isDelete }: PlanOptions,
  stage: Stage,
): Promise<{ readonly ports: PlanPorts; readonly tree: PlannedTree }> {
  const { cluster, closing } = stage;
  const { namespace } = cluster;
  const { signal } = closing;
  setMaxListeners(0, signal); // every request adds a listener
  const world = await readWorld(cluster, signal);
  const key = `${namespace}/${name}`;
  const ports = { ...portsFor(stage), managersOf: await readManagers(cluster, world, signal) };
  await collectSecrets(world.targets.list(), ports);
  const installation = world.installations.get(key);
  if (installation) {
    const above = ownersOf(world, installation).length;
    const budget = new TreeBudget(stage.configuration.limits, above);
    return { ports, tree: await planInstallation(installation, name, world, { ...ports, budget }, isDelete) };
  }
  const item = world.deployItems.get(key);
  if (item) {
    return {
      ports,
      tree: { items: [await planDeployItem(item, world, ports, isDelete)], problems: [], waits: [] },
    };
  }
  throw new CommandError(
    `there is no installation or deploy item ${name} in namespace ${namespace}; choose another with -n, ` +
      'or list all with: espalier installations inspect -A',
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
    strictTypes: strictTypes(configuration),
    findComponent: componentFinder({ client: guarded, repositories, ...(verification && { verification }) }),
    plugins: new Map([...pluginsByType(configuration, guarded, signal), ...own]),
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
