/**
 * Finds objects by the names that commands print: the name of an object; a path such as `platform/users`, with the names in
 * blueprints below a root; or a namespace and a name, as `inspect -A` prints them.
 */
import type { DeployItem } from '../api/kinds/deployitem.ts';
import type { Installation } from '../api/kinds/installation.ts';
import { parentInstallation } from '../api/job.ts';
import { annotations, labels } from '../api/labels.ts';
import { deployItemKind, installationKind } from '../api/landscaper-kinds.ts';
import { hintFor } from '../lib/closest.ts';
import type { View } from '../lib/objects.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../runtime/types.ts';
import { withCluster, type Cluster, type NamespacedOptions } from './cluster.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal/terminal.ts';
import { selfCommand } from './self-command.ts';

type Place = Pick<Cluster, 'client' | 'namespace'>;
type Kinds = 'installations' | 'installations and deploy items';

/** Connects, and calls `work` with the object name; the namespace of the cluster is that of the object. */
export const withNamed = <T>(
  printed: string,
  options: NamespacedOptions,
  terminal: Terminal,
  work: (cluster: Cluster, name: string) => Promise<T>,
  kinds: Kinds = 'installations',
): Promise<T> =>
  withCluster(options, terminal, async (cluster) => {
    const { namespace, name } = await located(printed, cluster, kinds);
    return work({ ...cluster, namespace }, name);
  });

/**
 * A name without a slash is not looked up.
 * @throws CommandError if a part of a path does not exist
 */
export async function located(
  printed: string,
  { client, namespace }: Place,
  kinds: Kinds = 'installations',
): Promise<{ readonly namespace: string; readonly name: string }> {
  const [root = '', ...path] = printed.split('/');
  if (path.length === 0) return { namespace, name: printed };
  const top = await getIfThere<Obj>(client, installationKind, `${namespace}/${root}`);
  if (!top) return inNamespace(printed, { client, namespace }, kinds);
  const children = childrenIn(await all<Installation>(client, installationKind, namespace));
  let name = root;
  for (const [i, part] of path.entries()) {
    const below = children.get(name) ?? [];
    const child = below.find(({ title, name: own }) => title === part || own === part);
    const isLast = i === path.length - 1;
    const found =
      child?.name ??
      (isLast && kinds !== 'installations' ? await itemOf(name, part, { client, namespace }) : undefined);
    if (found === undefined) {
      const titles = below.map(({ title }) => title);
      const hint = titles.length === 0 ? 'it has no sub-installations' : hintFor(part, titles);
      throw new CommandError(`there is no "${part}" below installation ${name}; ${hint}`);
    }
    name = found;
  }
  return { namespace, name };
}

/** `NAMESPACE/NAME` */
async function inNamespace(
  printed: string,
  { client, namespace }: Place,
  kinds: Kinds,
): Promise<{ readonly namespace: string; readonly name: string }> {
  const [other = '', name = '', ...more] = printed.split('/');
  const isThere = async (kind: Kind): Promise<boolean> =>
    more.length === 0 && (await getIfThere<Obj>(client, kind, printed)) !== undefined;
  if ((await isThere(installationKind)) || (kinds !== 'installations' && (await isThere(deployItemKind))))
    return { namespace: other, name };
  throw new CommandError(
    `there is no installation ${other} in namespace ${namespace}, and no installation ${printed}; ` +
      `choose another namespace with -n, or list all with: ${selfCommand()} installations inspect -A`,
  );
}

interface Child {
  /** In the blueprint of its parent. */
  readonly title: string;
  readonly name: string;
}

function childrenIn(installations: readonly View<Obj>[]): ReadonlyMap<string, readonly Child[]> {
  const children = new Map<string, Child[]>();
  for (const { metadata } of installations) {
    const parent = parentInstallation(metadata);
    if (parent === undefined) continue;
    const child = {
      title: metadata.annotations?.[annotations.subinstallationName] ?? metadata.name,
      name: metadata.name,
    };
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  return children;
}

/** The execution of an installation has its name. */
async function itemOf(
  execution: string,
  title: string,
  { client, namespace }: Place,
): Promise<string | undefined> {
  const items = await all<DeployItem>(client, deployItemKind, namespace);
  return items.find(
    ({ metadata }) =>
      metadata.labels?.[labels.executionManagedBy] === execution &&
      (metadata.labels[labels.executionName] === title || metadata.name === title),
  )?.metadata.name;
}

async function all<T extends Obj>(
  client: Client,
  kind: Kind,
  namespace: string,
): Promise<readonly View<T>[]> {
  const found: View<T>[] = [];
  for await (const { items } of client.list(kind as Kind<T>, { namespace, metadataOnly: true }))
    for (const item of items) found.push(item as View<T>);
  return found;
}
