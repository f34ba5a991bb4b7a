/** Reads the tree below one installation of the cluster. */
import { CommandError } from '../errors.ts';
import type { Cluster } from '../cluster.ts';
import { collect } from './collect.ts';
import { treesOf, type Node } from './tree.ts';
import { selfCommand } from '../self-command.ts';

/** @throws CommandError if there is no such installation */
export async function treeNamed(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  name: string,
): Promise<Node> {
  const [root] = treesOf(await collect(client, namespace), name);
  if (root) return root;
  throw new CommandError(
    `there is no installation ${name} in namespace ${namespace}; choose another with -n, ` +
      `or list all with: ${selfCommand()} installations inspect -A`,
  );
}
