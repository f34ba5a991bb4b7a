/** `espalier deployitems left-behind remove`: deletes objects on a cluster to which a target no longer leads. */
import { withNamed } from '../../../named-objects.ts';
import { setMaxListeners } from 'node:events';
import { connectorOf, targetReaderOf } from '../../../../../deployers/sdk/controller.ts';
import type { DeployContextPorts } from '../../../../../deployers/sdk/deploy-context.ts';
import { removeLeftBehind, type RemovedObjects } from '../../../../../deployers/sdk/left-behind-removal.ts';
import type { DeployerPlugin } from '../../../../../deployers/sdk/index.ts';
import { standardTimeouts } from '../../../../../deployers/sdk/timeout.ts';
import { isFinished } from '../../../../api/job.ts';
import { deployItemKind, type DeployItem } from '../../../../api/kinds/deployitem.ts';
import { targetKind, type Target } from '../../../../api/kinds/target.ts';
import { API_VERSION, GROUP } from '../../../../api/labels.ts';
import { clusterText } from '../../../../api/left-behind.ts';
import { secureRng } from '../../../../lib/secure-rng.ts';
import { silentLogger as log } from '../../../../observability/log.ts';
import { onInterrupt } from '../../../../runtime/manager/signals.ts';
import { getIfThere } from '../../../../runtime/transport/read.ts';
import type { View } from '../../../../runtime/types.ts';
import { Closing } from '../../../../lib/closing.ts';
import type { Cluster, NamespacedOptions } from '../../../cluster.ts';
import { pluginsByType } from '../../../composition/plugins.ts';
import { defaults, readConfiguration } from '../../../configuration/configuration.ts';
import { CommandError, UsageError } from '../../../errors.ts';
import type { Terminal } from '../../../terminal/terminal.ts';
import { readManagers } from '../../plan/current-objects.ts';
import { targetKubeconfig } from '../../targets/kubeconfig.ts';
import { changeEntries, entriesOf, itemNamed } from './entries.ts';
import { selfCommand } from '../../../self-command.ts';

export interface RemoveOptions extends NamespacedOptions {
  readonly target?: string;
  readonly targetKubeconfig?: string;
  readonly targetContext?: string;
  readonly config?: string;
}

export async function removeFromCluster(
  printed: string,
  options: RemoveOptions,
  terminal: Terminal,
): Promise<void> {
  const kubeconfig = kubeconfigOf(options);
  const closing = new Closing();
  const interruption = onInterrupt();
  interruption.signal.addEventListener('abort', () => void closing.close(), { once: true });
  setMaxListeners(0, closing.signal); // every request adds a listener
  try {
    await withNamed(
      printed,
      options,
      terminal,
      (cluster, name) => remove(name, { cluster, options, kubeconfig, closing, terminal }),
      'installations and deploy items',
    );
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    throw new CommandError('interrupted; the record is unchanged, run the command again to continue');
  } finally {
    interruption.release();
    await closing.close();
  }
}

/** @throws UsageError */
function kubeconfigOf({ target, targetKubeconfig: file, targetContext }: RemoveOptions): string | undefined {
  if ((target === undefined) === (file === undefined))
    throw new UsageError(
      'name the cluster with the objects, either with --target-kubeconfig FILE or with --target NAME',
    );
  return file === undefined
    ? undefined
    : targetKubeconfig({ file, context: targetContext, isFlattened: true });
}

interface Stage {
  readonly cluster: Cluster;
  readonly options: RemoveOptions;
  readonly kubeconfig: string | undefined;
  readonly closing: Closing;
  readonly terminal: Terminal;
}

async function remove(name: string, stage: Stage): Promise<void> {
  const { cluster, closing, terminal } = stage;
  const item = await itemNamed(cluster, name);
  const entries = entriesOf(item);
  if (!isFinished(item))
    throw new CommandError(
      `a job of deploy item ${name} is running; run the command again when it has ended`,
    );
  const ports = await portsFor(item, stage);
  const at = {
    item,
    entries,
    target: await targetFor(item, stage),
    log,
    signal: closing.signal,
    onWait: lines(terminal),
  };
  const done = await removeLeftBehind(at, ports);
  await changeEntries(cluster, name, (entry) =>
    entry.cluster?.uid === done.entry.cluster.uid ? done.remaining : entry,
  );
  report(item, done, terminal);
}

/** Prints each message once. */
function lines(terminal: Terminal): (message: string) => void {
  const known = new Set<string>();
  return (message) => {
    if (!known.has(message)) terminal.warn(message);
    known.add(message);
  };
}

function report(
  { metadata }: DeployItem,
  { entry, removed, remaining }: RemovedObjects,
  terminal: Terminal,
): void {
  for (const text of removed) terminal.print(`- removed ${text}`);
  terminal.print(
    remaining
      ? `${String(remaining.omitted ?? 0)} more objects on cluster ${clusterText(entry.cluster)} were only counted; find them there by ` +
          `the label manifest.deployer.${GROUP}/deployitem=${metadata.name}, then run: ${selfCommand()} deployitems left-behind forget ` +
          `${metadata.name} -n ${metadata.namespace ?? ''} --cluster ${entry.cluster.uid}`
      : `deploy item ${metadata.name} has no more objects on cluster ${clusterText(entry.cluster)}`,
  );
}

/** @throws CommandError if there is no such Target */
async function targetFor(
  { metadata }: DeployItem,
  { cluster: { client }, options, kubeconfig }: Stage,
): Promise<View<Target>> {
  const { namespace = '' } = metadata;
  if (kubeconfig !== undefined) {
    const spec = { type: `${GROUP}/kubernetes-cluster`, config: { kubeconfig } };
    return {
      apiVersion: API_VERSION,
      kind: targetKind.kind,
      metadata: { name: 'left-behind', namespace },
      spec,
    };
  }
  const name = options.target ?? '';
  const target = await getIfThere(client, targetKind, `${namespace}/${name}`);
  if (target) return target;
  throw new CommandError(`there is no target ${name} in namespace ${namespace}`);
}

/** @throws CommandError if this program has no deployer for the item */
async function portsFor(item: DeployItem, { cluster, options, closing }: Stage): Promise<DeployContextPorts> {
  const { client, clock, self } = cluster;
  const { signal } = closing;
  const rng = secureRng;
  const configuration = options.config === undefined ? defaults : readConfiguration(options.config);
  const plugin: DeployerPlugin | undefined = pluginsByType(configuration, client, signal).get(item.spec.type);
  if (!plugin?.hasInventory)
    throw new CommandError(`this program cannot delete objects of deploy items of type ${item.spec.type}`);
  const own: View<DeployItem>[] = [];
  for await (const { items } of client.list(deployItemKind, { namespace: cluster.namespace }, signal))
    for (const one of items) own.push(one);
  return {
    plugin,
    client,
    // Read from the server when they are needed.
    contexts: { get: () => undefined },
    targets: { get: () => undefined },
    reader: targetReaderOf({
      client,
      clock,
      log,
      rng,
      signal,
      self,
      connect: connectorOf({ clock, log, rng }),
    }),
    timeouts: standardTimeouts,
    managersOf: await readManagers(cluster, { deployItems: { list: () => own } }, signal),
    clock,
    rng,
  };
}
