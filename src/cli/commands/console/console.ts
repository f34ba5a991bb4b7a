/** `espalier console`: serves the web console for the cluster of the kubeconfig. */
import { spawn } from 'node:child_process';
import { deployItemKind, executionKind, installationKind } from '../../../api/landscaper-kinds.ts';
import type { Client, Obj } from '../../../runtime/types.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { isAllowed } from '../../console/requests.ts';
import { startConsole } from '../../console/start.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface ConsoleCommandOptions extends NamespacedOptions {
  readonly port?: number;
  /** False with --no-open. */
  readonly open: boolean;
}

export async function serveConsole(options: ConsoleCommandOptions, terminal: Terminal): Promise<void> {
  const interruption = onInterrupt();
  try {
    await withCluster(options, terminal, async (cluster) => {
      const namespace = await shownNamespace(options, cluster);
      await readOne(cluster.client, namespace);
      const running = await startConsole(cluster, { namespace, port: options.port });
      try {
        terminal.print(
          `Serving the console of ${terminal.paint.bold(namespace ?? 'all namespaces')} at ${cluster.self.server}. The link contains a token; do not share it:`,
        );
        terminal.print(`\n  ${terminal.paint.cyan(running.link)}\n`);
        if (options.open && terminal.isLive) openBrowser(running.onceLink());
        terminal.print('Press Ctrl-C to stop.');
        await aborted(interruption.signal);
      } finally {
        await running.close();
      }
    });
  } finally {
    interruption.release();
  }
}

/** Undefined: all namespaces. */
async function shownNamespace(
  { namespace }: ConsoleCommandOptions,
  cluster: Cluster,
): Promise<string | undefined> {
  if (namespace !== undefined) return namespace;
  return (await isAllowed(cluster.client, 'list', undefined)) ? undefined : cluster.namespace;
}

/**
 * Reads one object of each kind, since a watch waits for definitions and permissions.
 * @throws ApiError that names what is missing
 */
async function readOne(client: Client, namespace: string | undefined): Promise<void> {
  for (const kind of [installationKind, executionKind, deployItemKind])
    for await (const _ of client.list<Obj>(kind, { limit: 1, ...(namespace !== undefined && { namespace }) }))
      break;
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Without a browser, the printed link remains. */
function openBrowser(url: string): void {
  const [program = '', ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
