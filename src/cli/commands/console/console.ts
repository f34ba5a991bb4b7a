/** `espalier console`: serves the web console for the cluster of the kubeconfig. */
import { spawn } from 'node:child_process';
import { clusterArgs } from '../../kubeconfig.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { readConfiguration } from '../../configuration/configuration.ts';
import { isAllowed } from '../../console/requests.ts';
import { startConsole } from '../../console/start.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { planningArgs, type PlanningOptions } from '../plan/options.ts';
import { readOne } from './read-one.ts';

export interface ConsoleCommandOptions extends NamespacedOptions, PlanningOptions {
  readonly port?: number;
  /** False with --no-open. */
  readonly open: boolean;
}

export async function serveConsole(options: ConsoleCommandOptions, terminal: Terminal): Promise<void> {
  // A plan reads it again; a mistake should be reported now.
  if (options.config !== undefined) readConfiguration(options.config);
  const interruption = onInterrupt();
  try {
    await withCluster(options, terminal, async (cluster) => {
      const namespace = await shownNamespace(options, cluster);
      await readOne(cluster.client, namespace === undefined ? undefined : [namespace]);
      const running = await startConsole(cluster, {
        namespace,
        port: options.port,
        planArgs: [...clusterArgs(options), ...planningArgs(options)],
      });
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
