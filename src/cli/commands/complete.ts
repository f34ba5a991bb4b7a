/** `espalier __complete`: the possible last words of a line, also from the cluster. Silent if it is not available. */
import type { Command } from 'commander';
import { installationKind } from '../../api/landscaper-kinds.ts';
import { sleep } from '../../lib/clock.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../cluster.ts';
import { DIRECTIVES, expectedAt, lastOf } from '../completion/answer.ts';
import { completionModel, type ClusterValues, type Values } from '../completion/model.ts';
import { namespaceKind } from '../objects.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A user who waits longer goes on typing. */
const MAX_WAIT_MS = 2000;
const MAX_NAMES = 500;

/** @param words the last one is to be completed, and may be empty */
export async function complete(
  words: readonly string[],
  program: Command,
  terminal: Terminal,
): Promise<void> {
  const current = lastOf(words);
  const { words: known, values, options } = expectedAt(completionModel(program), words);
  const flag = (name: string): string | undefined => options.get(name);
  const [namespace, kubeconfig, context] = [flag('--namespace'), flag('--kubeconfig'), flag('--context')];
  const found = await namesFor(
    values,
    {
      ...(namespace !== undefined && { namespace }),
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    },
    terminal,
  );
  for (const word of [...known, ...found]) if (word.startsWith(current)) terminal.print(word);
  const isPath = values?.is === 'files' || values?.is === 'folders';
  terminal.print(isPath ? DIRECTIVES[values.is] : DIRECTIVES.noFiles);
}

async function namesFor(
  values: Values | undefined,
  options: NamespacedOptions,
  terminal: Terminal,
): Promise<readonly string[]> {
  if (values?.is === 'words') return values.words;
  if (values?.is !== 'installations' && values?.is !== 'namespaces') return [];
  try {
    return await withCluster(options, terminal, (cluster) => namesOf(values.is, cluster));
  } catch {
    // An error message would destroy the line that the user types.
    return [];
  }
}

async function namesOf(
  values: ClusterValues,
  { client, clock, namespace }: Cluster,
): Promise<readonly string[]> {
  const giveUp = new AbortController();
  const kind = values === 'namespaces' ? namespaceKind : installationKind;
  const scope = values === 'namespaces' ? {} : { namespace };
  const firstPage = async (): Promise<readonly string[]> => {
    for await (const { items } of client.list(kind, { ...scope, limit: MAX_NAMES }, giveUp.signal))
      return items.map(({ metadata }) => metadata.name);
    return [];
  };
  const tooLong = sleep(clock, MAX_WAIT_MS, giveUp.signal).then(() => []);
  try {
    return await Promise.race([firstPage(), tooLong]);
  } finally {
    giveUp.abort();
  }
}
