/** The web console of a development server. */
import { withCluster } from '../../cluster.ts';
import { startConsole } from '../../console/start.ts';
import { CommandError } from '../../errors.ts';
import { clusterArgs } from '../../kubeconfig.ts';
import { planningArgs } from '../plan/options.ts';
import type { Paint, Terminal } from '../../terminal/terminal.ts';

/**
 * Calls `use` with the link of the console while it is served; without a link if the console is not built.
 * @param config file of the controllers, for plans
 */
export const withConsole = (
  kubeconfigFile: string,
  terminal: Terminal,
  use: (link: string | undefined) => Promise<void>,
  config?: string,
): Promise<void> =>
  withCluster({ kubeconfig: kubeconfigFile }, terminal, async (cluster) => {
    const planArgs = [
      ...clusterArgs({ kubeconfig: kubeconfigFile }),
      ...planningArgs(config === undefined ? {} : { config }),
    ];
    const options = { namespace: undefined, port: 0, planArgs };
    const running = await startConsole(cluster, options).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      terminal.warn(error.message);
      return undefined;
    });
    try {
      await use(running?.link);
    } finally {
      await running?.close();
    }
  });

export const consoleLines = (link: string | undefined, paint: Paint): readonly string[] =>
  link === undefined ? [] : ['Or open the console in a browser:', '', `  ${paint.cyan(link)}`, ''];
