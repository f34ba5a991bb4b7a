/**
 * The shoot clusters of deploy items that need no uninstall once their cluster is gone: which one it is, noted when the
 * item is written, and whether it is still there, asked when the item is about to be uninstalled.
 */
import { TARGET_SYNC_OK, annotations, labels } from '../../src/api/labels.ts';
import { isBeingDeleted } from '../../src/api/job.ts';
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

/** Which cluster an item goes to cannot be told; ends the job. */
class ClusterUnknown extends PhaseError {
  constructor(template: string, why: string, options?: ErrorOptions) {
    const message = `deploy item ${template} sets skipUninstallIfClusterRemoved, but its cluster is unknown: ${why}`;
    super('handleReconcilePhase', 'handlePhaseInit', message, [], options);
  }
}

/** Whether a cluster is still there cannot be told now. */
class CannotTell extends PhaseError {
  override readonly outcome = 'retry';
}

// ---------------------------------------------------------------- noting

/** Names of shoots by template name, for templates that ask for it and whose target was made by a target sync. */
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
    return (await loadAccess({ text }, refuse)).server;
  } catch (error) {
    if (error instanceof KubeconfigError) throw new ClusterUnknown(template, error.message, { cause: error });
    throw error;
  }
}

/** Credentials are not needed to read an address. */
const refuse = (): Promise<never> => Promise.reject(new KubeconfigError({ message: 'no commands are run' }));

/** The name of the shoot in the address of its API server. Pure. */
export const shootIn = (server: string): string | undefined =>
  URL.canParse(server) ? /^api\.([^.]+)\../.exec(new URL(server).hostname)?.[1] : undefined;

// ---------------------------------------------------------------- asking

/** The shoot with whose end the item is forgotten, when it asks for that. */
const shootAskedFor = (item: Item): string | undefined =>
  item.spec.onDelete?.skipUninstallIfClusterRemoved === true && item.spec.target && !isUninstallSkipped(item)
    ? item.metadata.annotations?.[annotations.clusterName]
    : undefined;

/** Names of the items, among those given, whose cluster is gone. */
export async function itemsWithoutCluster(
  ports: ClusterPorts,
  self: Self,
  items: readonly Item[],
): Promise<ReadonlySet<string>> {
  const asking = items.flatMap((item) => {
    const shoot = shootAskedFor(item);
    return shoot === undefined ? [] : [{ name: item.metadata.name, shoot }];
  });
  if (asking.length === 0) return new Set();
  const gone = await lookUp(ports, self, new Set(asking.map(({ shoot }) => shoot)));
  return new Set(asking.filter(({ shoot }) => gone.has(shoot)).map(({ name }) => name));
}

/** Those of the shoots that are gone, as the source cluster of the namespace's only TargetSync says. */
async function lookUp(
  ports: ClusterPorts,
  { metadata }: Self,
  shoots: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const [sync, ...more] = [...ports.world.targetSyncs.list(metadata.namespace)].filter(
    (s) => !isBeingDeleted(s.metadata),
  );
  // In a namespace that is being deleted no TargetSync can be created any more: its items are uninstalled like all others.
  if (!sync && (await isTerminating(ports.client, metadata.namespace ?? ''))) return new Set();
  if (!sync || more.length > 0) {
    throw new CannotTell('skipUninstall', 'fetchTargetSync', 'targetsync not found or not unique');
  }
  const gone = new Set<string>();
  const { client } = await openSource(ports, sync).catch((error: unknown) => {
    if (!(error instanceof SourceUnavailable) && !(error instanceof KubeconfigError)) throw error;
    throw new CannotTell('skipUninstall', 'fetchShoot', error.message, [], { cause: error });
  });
  for (const shoot of shoots) {
    const isGone = await isShootGone(client, sync.spec.sourceNamespace, shoot).catch(cannotAsk);
    if (isGone) gone.add(shoot);
  }
  return gone;
}

/** Asked by a list: the product may list namespaces, and not get one. */
async function isTerminating(client: ClusterPorts['client'], namespace: string): Promise<boolean> {
  for await (const { items } of client.list(namespaceKind, { fields: `metadata.name=${namespace}` })) {
    if (items.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return true;
  }
  return false;
}

/** The source cluster does not answer, or refuses. @throws PhaseError for what stays so, CannotTell for what may pass */
function cannotAsk(error: unknown): never {
  if (!(error instanceof ApiError) && !(error instanceof TransportError)) throw error;
  const place = ['skipUninstall', 'fetchShoot', error.message, []] as const;
  if (!isTemporary(error)) throw new PhaseError(...place, { cause: error });
  throw new CannotTell(...place, { cause: error, remote: remoteTroubleOf(error) });
}
