/**
 * `espalier installations force-delete`: deletes an installation and all objects below it without uninstalling
 * anything. It first marks objects so that running controllers uninstall nothing, then removes finalizers.
 */
import { withNamed } from '../../named-objects.ts';
import { shownTargetName } from '../../../api/target-name.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import { annotations, labels, TRUE } from '../../../api/labels.ts';
import {
  dataObjectKind,
  deployItemKind,
  executionKind,
  installationKind,
  targetKind,
} from '../../../api/landscaper-kinds.ts';
import { executionContext, installationContext } from '../../../dataflow/scope.ts';
import { sleep } from '../../../lib/clock.ts';
import { isObject, ownField } from '../../../lib/objects.ts';
import { NotFound } from '../../../runtime/errors.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../../runtime/types.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import { onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { treeNamed } from '../../tree/named.ts';
import { collect } from '../../tree/collect.ts';
import { treesOf, type Node } from '../../tree/tree.ts';

export interface ForceDeleteOptions extends NamespacedOptions {
  readonly yes?: true;
  readonly dryRun?: true;
  /** All root installations of the namespace. */
  readonly all?: true;
}

export async function forceDelete(
  printed: string | undefined,
  options: ForceDeleteOptions,
  terminal: Terminal,
): Promise<number> {
  if ((printed === undefined) !== (options.all === true))
    throw new UsageError('name one installation, or add --all for all installations of the namespace');
  const run = async (cluster: Cluster, trees: readonly Node[], name?: string): Promise<number> => {
    const { objects, targets } = await dataOf(trees, cluster);
    const doomed = [...trees.flatMap(objectsOf), ...objects];
    for (const line of trees.flatMap((tree) => remainingObjects(tree, targets))) terminal.print(line);
    if (options.dryRun) {
      for (const { what } of doomed) terminal.print(`- would delete ${what}`);
      return exitCodes.ok;
    }
    if (!options.yes) await confirm(name, cluster.namespace, doomed.length, terminal);
    return removeAll(doomed, cluster, terminal);
  };
  return printed === undefined
    ? withCluster(options, terminal, async (cluster) =>
        run(cluster, treesOf(await collect(cluster.client, cluster.namespace))),
      )
    : withNamed(printed, options, terminal, async (cluster, name) =>
        run(cluster, [await treeNamed(cluster, name)], name),
      );
}

/** @throws UsageError without a terminal, CommandError if the user does not confirm */
async function confirm(
  installation: string | undefined,
  namespace: string,
  count: number,
  terminal: Terminal,
): Promise<void> {
  const question =
    `Deletes ${String(count)} objects without uninstalling anything. ` +
    `Type the name of the ${installation === undefined ? 'namespace' : 'installation'} to continue: `;
  const answer = await terminal.ask(question);
  if (answer === undefined)
    throw new UsageError(
      'cannot ask for confirmation without a terminal; check with --dry-run, then add --yes',
    );
  if (answer.trim() !== (installation ?? namespace))
    throw new CommandError('not confirmed, nothing was deleted');
}

// ---------------------------------------------------------------- objects to delete and to keep

interface ObjectToDelete {
  readonly kind: Kind;
  readonly key: string;
  /** `deployItem web`, as in landscaper-cli. */
  readonly what: string;
  /** Whether a controller would uninstall something when the object is deleted. */
  readonly isWatched: boolean;
}

const kinds = {
  Installation: { kind: installationKind as Kind, word: 'installation' },
  Execution: { kind: executionKind as Kind, word: 'execution' },
  DeployItem: { kind: deployItemKind as Kind, word: 'deployItem' },
} as const;

/** From the top down, so that a parent does not recreate its children. Deploy items come before their execution. */
function objectsOf(node: Node): readonly ObjectToDelete[] {
  const { kind, word } = kinds[node.kind];
  const self = {
    kind,
    key: `${node.namespace}/${node.name}`,
    what: `${word} ${node.name}`,
    isWatched: true,
  };
  const below = node.children.flatMap(objectsOf);
  return node.kind === 'Execution' ? [...below, self] : [self, ...below];
}

interface Data {
  readonly objects: readonly ObjectToDelete[];
  /** The names of all targets for users, by object name. */
  readonly targets: ReadonlyMap<string, string>;
}

/** Imports and exports that the installations have written. */
async function dataOf(trees: readonly Node[], { client, namespace }: Cluster): Promise<Data> {
  const writers = new Set(trees.flatMap(writersIn));
  const objects: ObjectToDelete[] = [];
  const targets = new Map<string, string>();
  for (const [kind, word] of [
    [dataObjectKind as Kind, 'dataObject'],
    [targetKind as Kind, 'target'],
  ] as const) {
    for await (const page of client.list(kind, { namespace, metadataOnly: true })) {
      for (const { metadata } of page.items) {
        const { name } = metadata;
        if (kind === targetKind) targets.set(name, shownTargetName(metadata));
        if (!writers.has(metadata.labels?.[labels.dataSource] ?? '')) continue;
        objects.push({ kind, key: `${namespace}/${name}`, what: `${word} ${name}`, isWatched: false });
      }
    }
  }
  return { objects, targets };
}

function writersIn(node: Node): readonly string[] {
  const own =
    node.kind === 'Installation'
      ? [installationContext(node.name)]
      : node.kind === 'Execution'
        ? [executionContext(node.name)]
        : [];
  return [...own, ...node.children.flatMap(writersIn)];
}

/** Deployed objects that stay on the targets, according to the status of the deploy items. */
function remainingObjects(node: Node, targets: Data['targets']): readonly string[] {
  if (node.kind !== 'DeployItem') return node.children.flatMap((child) => remainingObjects(child, targets));
  const { spec, status } = node.object as View<DeployItem>;
  const resources = namesIn(status?.providerStatus);
  if (resources.length === 0) return [];
  const name = spec.target?.name;
  const target = name === undefined ? 'its target' : `target ${targets.get(name) ?? name}`;
  return [
    `What deployItem ${node.name} has installed stays on ${target}:`,
    ...resources.map((resource) => `    ${resource}`),
  ];
}

function namesIn(providerStatus: unknown): readonly string[] {
  const managed = ownField(providerStatus, 'managedResources');
  const release = ownField(providerStatus, 'release');
  const entries: readonly unknown[] = Array.isArray(managed) ? managed : [];
  return [
    ...(isObject(release) ? [`helm release ${placeOf(release)}`] : []),
    ...entries
      .map((entry) => ownField(entry, 'resource') ?? entry)
      .filter(isObject)
      .map((ref) => `${String(ref['kind'])} ${placeOf(ref)}`),
  ];
}

function placeOf(ref: object): string {
  const [namespace, name] = [ownField(ref, 'namespace'), ownField(ref, 'name')];
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${String(name)}` : String(name);
}

// ---------------------------------------------------------------- deletion

const TIMEOUT_MS = 10_000;
const RETRY_MS = 1_000;

async function removeAll(
  doomed: readonly ObjectToDelete[],
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  const interruption = onInterrupt();
  try {
    for (const one of doomed.filter(({ isWatched }) => isWatched))
      await markWithoutUninstall(one, cluster.client);
    for (const one of doomed) {
      interruption.signal.throwIfAborted();
      await removeOne(one, cluster, terminal);
    }
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    throw new CommandError('interrupted; some objects remain, run the command again to delete them');
  } finally {
    interruption.release();
  }
  terminal.print('All objects deleted');
  return exitCodes.ok;
}

/**
 * Sets an annotation, so that deployers do not start to uninstall between the deletion and the removal of the
 * finalizers.
 */
async function markWithoutUninstall({ kind, key }: ObjectToDelete, client: Client): Promise<void> {
  const body = { metadata: { annotations: { [annotations.deleteWithoutUninstall]: TRUE } } };
  try {
    await client.send({ verb: 'merge', kind, key, body });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

async function removeOne(
  { kind, key, what }: ObjectToDelete,
  { client, clock }: Cluster,
  terminal: Terminal,
): Promise<void> {
  try {
    await client.send({ verb: 'delete', kind, key, propagation: 'Background' });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    terminal.print(`- already gone: ${what}`);
    return;
  }
  const giveUpAt = clock.now() + TIMEOUT_MS;
  for (;;) {
    try {
      await stripFinalizers(client, kind, key);
      terminal.print(`- deleted ${what}`);
      return;
    } catch (error) {
      if (clock.now() >= giveUpAt) throw error;
      terminal.print(`- cannot remove finalizers from ${what} - will retry`);
      await sleep(clock, RETRY_MS);
    }
  }
}

async function stripFinalizers(client: Client, kind: Kind, key: string): Promise<void> {
  const left: Obj | undefined = await getIfThere(client, kind, key);
  if (!left) return;
  try {
    await client.send({ verb: 'merge', kind, key, body: { metadata: { finalizers: null } } });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}
