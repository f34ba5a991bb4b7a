/**
 * Shoot clusters of deploy items that skip the uninstall if their cluster no longer exists. The execution records
 * the shoot when it writes the item, and checks whether the shoot still exists before it uninstalls the item.
 */
import { TARGET_SYNC_OK, annotations, labels } from '../../src/api/labels.ts';
import { isBeingDeleted } from '../../src/api/job.ts';
import { leftBehindIn } from '../../src/api/left-behind.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import type { Target } from '../../src/api/kinds/target.ts';
import { PhaseError } from '../../src/machine/decision.ts';
import { remoteTroubleOf } from '../../src/machine/remote.ts';
import {
  isShootGone,
  openSource,
  SourceUnavailable,
  type SourcePorts,
} from '../../src/landscape/source-cluster.ts';
import { namespaceKind, secretKind, type World } from '../../src/landscape/world.ts';
import { ApiError, KubeconfigError, NotFound, TransportError } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { isTemporary } from '../../src/runtime/transport/failure.ts';
import { loadAccess } from '../../src/runtime/transport/kubeconfig.ts';
import type { View } from '../../src/runtime/types.ts';
import { isUninstallSkipped, type Item } from './classify.ts';

interface ClusterPorts extends SourcePorts {
  readonly world: World;
}

type Self = View<Execution>;

/** The cluster of an item cannot be determined; ends the job. */
class ClusterUnknown extends PhaseError {
  constructor(template: string, why: string, options?: ErrorOptions) {
    const message = `deploy item ${template} sets skipUninstallIfClusterRemoved, but its cluster is unknown: ${why}`;
    super('handleReconcilePhase', 'handlePhaseInit', message, [], options);
  }
}

/** Cannot determine at the moment whether a cluster still exists. */
class ClusterStateUnknown extends PhaseError {
  override readonly outcome = 'retry';
}

// ---------------------------------------------------------------- record

/**
 * Names of shoots, keyed by template name, for templates with skipUninstallIfClusterRemoved whose target was
 * created by a TargetSync.
 */
export async function clusterNames(
  ports: ClusterPorts,
  self: Self,
  templates: readonly DeployItemTemplate[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const { name, target: ref, onDelete } of templates) {
    if (onDelete?.skipUninstallIfClusterRemoved !== true || !ref) continue;
    const target = ports.world.targets.get(joinKey(self.metadata.namespace, ref.name));
    if (!target) throw new ClusterUnknown(name, `target ${ref.name} does not exist`);
    if (target.metadata.labels?.[labels.targetSync] !== TARGET_SYNC_OK) continue;
    names.set(name, await shootOf(ports, name, target));
  }
  return names;
}

async function shootOf({ client }: ClusterPorts, template: string, target: View<Target>): Promise<string> {
  const { name, namespace } = target.metadata;
  const ref = target.spec.secretRef;
  if (!ref) throw new ClusterUnknown(template, `target ${name} has no secretRef`);
  const secret = await client.get(secretKind, joinKey(namespace, ref.name)).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    throw new ClusterUnknown(template, `secret ${ref.name} of target ${name} does not exist`);
  });
  const kubeconfig = secret.data?.[ref.key ?? ''];
  if (kubeconfig === undefined) {
    throw new ClusterUnknown(template, `secret ${ref.name} of target ${name} has no key "${ref.key ?? ''}"`);
  }
  const server = await serverOf(template, Buffer.from(kubeconfig, 'base64').toString('utf8'));
  const shoot = shootIn(server);
  if (shoot !== undefined) return shoot;
  throw new ClusterUnknown(
    template,
    `the server of target ${name} does not have an address of the form https://api.<shoot>.…`,
  );
}

async function serverOf(template: string, text: string): Promise<string> {
  try {
    return (await loadAccess({ text }, noCommands)).server;
  } catch (error) {
    if (error instanceof KubeconfigError) throw new ClusterUnknown(template, error.message, { cause: error });
    throw error;
  }
}

/** Reading the server address does not need credentials. */
const noCommands = (): Promise<never> =>
  Promise.reject(new KubeconfigError({ message: 'no commands are run' }));

/** The shoot name in an API server address. Pure. */
export const shootIn = (server: string): string | undefined =>
  URL.canParse(server) ? /^api\.([^.]+)\../.exec(new URL(server).hostname)?.[1] : undefined;

// ---------------------------------------------------------------- check

/**
 * The shoot that must exist for the item to be uninstalled; undefined if the item is always uninstalled, for example
 * because it has objects on other clusters as well.
 */
const requiredShoot = (item: Item): string | undefined =>
  item.spec.onDelete?.skipUninstallIfClusterRemoved === true &&
  item.spec.target &&
  !isUninstallSkipped(item) &&
  leftBehindIn(item.status).length === 0
    ? item.metadata.annotations?.[annotations.clusterName]
    : undefined;

/**
 * Whether the item's target exists and has the address of another cluster, which may contain the item's objects. A user
 * can change the annotation.
 */
async function leadsElsewhere(
  ports: ClusterPorts,
  { metadata, spec }: Item,
  shoot: string,
): Promise<boolean> {
  const target = ports.world.targets.get(joinKey(metadata.namespace, spec.target?.name ?? ''));
  if (!target) return false;
  try {
    return (await shootOf(ports, metadata.name, target)) !== shoot;
  } catch (error) {
    if (error instanceof ClusterUnknown) return false;
    throw error;
  }
}

/** Names of the given items whose cluster no longer exists. */
export async function itemsWithoutCluster(
  ports: ClusterPorts,
  self: Self,
  items: readonly Item[],
): Promise<ReadonlySet<string>> {
  const checked: { readonly name: string; readonly shoot: string }[] = [];
  for (const item of items) {
    const shoot = requiredShoot(item);
    if (shoot === undefined || (await leadsElsewhere(ports, item, shoot))) continue;
    checked.push({ name: item.metadata.name, shoot });
  }
  if (checked.length === 0) return new Set();
  const deleted = await findDeletedShoots(ports, self, new Set(checked.map(({ shoot }) => shoot)));
  return new Set(checked.filter(({ shoot }) => deleted.has(shoot)).map(({ name }) => name));
}

/** The given shoots that no longer exist, according to the source cluster of the only TargetSync in the namespace. */
async function findDeletedShoots(
  ports: ClusterPorts,
  { metadata }: Self,
  shoots: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const [sync, ...more] = [...ports.world.targetSyncs.list(metadata.namespace)].filter(
    (s) => !isBeingDeleted(s.metadata),
  );
  // No TargetSync can be created in a namespace that is being deleted, so its items are uninstalled as usual.
  if (!sync && (await isTerminating(ports.client, metadata.namespace ?? ''))) return new Set();
  if (!sync || more.length > 0) {
    throw new ClusterStateUnknown('skipUninstall', 'fetchTargetSync', 'targetsync not found or not unique');
  }
  const deleted = new Set<string>();
  const { client } = await openSource(ports, sync).catch((error: unknown) => {
    if (!(error instanceof SourceUnavailable) && !(error instanceof KubeconfigError)) throw error;
    throw new ClusterStateUnknown('skipUninstall', 'fetchShoot', error.message, [], { cause: error });
  });
  for (const shoot of shoots) {
    const isGone = await isShootGone(client, sync.spec.sourceNamespace, shoot).catch(queryFailed);
    if (isGone) deleted.add(shoot);
  }
  return deleted;
}

/** Uses a list request, because the product's role allows to list namespaces but not to get them. */
async function isTerminating(client: ClusterPorts['client'], namespace: string): Promise<boolean> {
  for await (const { items } of client.list(namespaceKind, { fields: `metadata.name=${namespace}` })) {
    if (items.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return true;
  }
  return false;
}

/**
 * Translates a failed request to the source cluster.
 * @throws PhaseError for permanent failures, ClusterStateUnknown for temporary ones
 */
function queryFailed(error: unknown): never {
  if (!(error instanceof ApiError) && !(error instanceof TransportError)) throw error;
  const place = ['skipUninstall', 'fetchShoot', error.message, []] as const;
  if (!isTemporary(error)) throw new PhaseError(...place, { cause: error });
  throw new ClusterStateUnknown(...place, { cause: error, remote: remoteTroubleOf(error) });
}
