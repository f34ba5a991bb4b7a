/** `espalier __complete`: the possible last words of a line, also from the cluster. Silent if it is not available. */
import type { Command } from 'commander';
import { installationKind, jobRecordKind } from '../../api/landscaper-kinds.ts';
import type { JobRecord } from '../../api/kinds/jobrecord.ts';
import { sleep } from '../../lib/clock.ts';
import { joinKey } from '../../runtime/keys.ts';
import { contextNames } from '../../runtime/transport/kubeconfig.ts';
import type { Kind, Obj } from '../../runtime/types.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../cluster.ts';
import { DIRECTIVES, expectedAt, lastOf } from '../completion/answer.ts';
import { completionModel, isAsked, type AskedValues, type Values } from '../completion/model.ts';
import { kubeconfigSource } from '../kubeconfig.ts';
import { namespaceKind } from '../objects.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { importNames } from '../trace/sources.ts';

/** A user who waits longer continues typing. */
const MAX_WAIT_MS = 2000;
const MAX_NAMES = 500;

/** @param words the last one is to be completed, and may be empty */
export async function complete(
  words: readonly string[],
  program: Command,
  terminal: Terminal,
): Promise<void> {
  const current = lastOf(words);
  const { words: known, values, args, options } = expectedAt(completionModel(program), words);
  const flag = (name: string): string | undefined => options.get(name);
  const [namespace, kubeconfig, context] = [flag('--namespace'), flag('--kubeconfig'), flag('--context')];
  const line: Line = {
    args,
    terminal,
    options: {
      ...(namespace !== undefined && { namespace }),
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    },
  };
  for (const word of [...known, ...(await namesFor(values, line))])
    if (word.startsWith(current)) terminal.print(word);
  const isPath = values?.is === 'files' || values?.is === 'folders';
  terminal.print(isPath ? DIRECTIVES[values.is] : DIRECTIVES.noFiles);
}

/** What the user has typed before. */
interface Line {
  readonly args: readonly string[];
  readonly options: NamespacedOptions;
  readonly terminal: Terminal;
}

async function namesFor(values: Values | undefined, line: Line): Promise<readonly string[]> {
  if (values?.is === 'words') return values.words;
  if (!values || !isAsked(values)) return [];
  const giveUp = new AbortController();
  const tooLong = sleep(line.terminal.clock, MAX_WAIT_MS, giveUp.signal).then(() => []);
  try {
    return await Promise.race([askers[values.is](line, giveUp.signal), tooLong]);
  } catch {
    // An error message would destroy the line that the user types.
    return [];
  } finally {
    giveUp.abort();
  }
}

type Asker = (line: Line, signal: AbortSignal) => Promise<readonly string[]>;

const askers: Readonly<Record<AskedValues, Asker>> = {
  installations: (line, signal) => namesOf(installationKind, line, signal),
  namespaces: (line, signal) => namesOf(namespaceKind, line, signal),
  imports: ({ args: [name = ''], options, terminal }, signal) =>
    withCluster(options, terminal, async ({ client, namespace }) =>
      importNames(await client.get(installationKind, joinKey(namespace, name), signal)),
    ),
  jobs: ({ args: [root], options, terminal }, signal) =>
    withCluster(options, terminal, async (cluster) => {
      const records = await firstPage<JobRecord>(jobRecordKind, cluster, signal);
      return records.filter(({ spec }) => spec.root.name === root).map(({ spec }) => String(spec.number));
    }),
  contexts: ({ options: { kubeconfig }, terminal }) =>
    contextNames(kubeconfigSource(kubeconfig === undefined ? {} : { kubeconfig }, terminal.env)),
  schemas: async () => {
    const { schemas } = await import('../schemas/catalogue.ts');
    return schemas.map(({ name }) => name);
  },
};

const namesOf = <K extends Obj>(kind: Kind<K>, { options, terminal }: Line, signal: AbortSignal) =>
  withCluster(options, terminal, async (cluster) =>
    (await firstPage(kind, cluster, signal)).map(({ metadata }) => metadata.name),
  );

async function firstPage<K extends Obj>(
  kind: Kind<K>,
  { client, namespace }: Cluster,
  signal: AbortSignal,
): Promise<readonly K[]> {
  const scope = kind.namespaced ? { namespace } : {};
  for await (const { items } of client.list<K>(kind, { ...scope, limit: MAX_NAMES }, signal)) return items;
  return [];
}
