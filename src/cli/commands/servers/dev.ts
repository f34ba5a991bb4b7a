/** `espalier dev`: runs API server, validating webhooks, controllers and deployers in one process. */
import { readConfiguration } from '../../configuration/configuration.ts';
import { startEmbeddedWebhooks } from '../../composition/embedded-webhooks.ts';
import type { Embedded } from '../../composition/embedded.ts';
import { withEmbeddedLandscaper } from '../../composition/embedded-landscaper.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import { applyAll, namespaceObject } from '../../objects.ts';
import { consoleLines, withConsole } from './with-console.ts';
import type { Address } from '../../terminal/options.ts';
import { packageInfo } from '../../package.ts';
import { quoted, selfCommand } from '../../self-command.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface DevOptions extends LogOptions {
  readonly data?: string;
  readonly port?: number;
  readonly writeKubeconfig?: string;
  readonly namespace: string;
  readonly config?: string;
  readonly metricsAddress?: Address;
}

export async function dev(options: DevOptions, terminal: Terminal): Promise<void> {
  applyVerbosity(terminal, options);
  const log = loggerFor(options, { level: 'info' });
  const configuration = options.config === undefined ? undefined : readConfiguration(options.config, log);
  const { data, port, namespace } = options;
  const interruption = onInterrupt(() => {
    log.info({}, 'stopping; a second signal exits immediately');
  });
  try {
    await withEmbeddedLandscaper(
      { data, port, namespace, log, simulate: true, kubeconfigFile: options.writeKubeconfig },
      {
        // The embedded server has no CustomResourceDefinitions unless they are installed.
        ...(configuration && { configuration: { ...configuration, installsCrds: true } }),
        tracing: configuration?.tracing ?? {},
        ...(options.metricsAddress && { metricsAddress: options.metricsAddress }),
        prepare: (embedded) => startEmbeddedWebhooks(embedded, log, configuration),
      },
      async ({ embedded, landscaper }) => {
        await applyAll(landscaper.client, [namespaceObject(namespace)]);
        embedded.announce();
        const serve = async (link: string | undefined): Promise<void> => {
          terminal.print(welcome(embedded, link, data, terminal));
          await aborted(interruption.signal);
        };
        await withConsole(embedded.kubeconfigFile, terminal, serve, options.config);
      },
    );
  } finally {
    interruption.release();
  }
}

function welcome(
  { url, kubeconfigFile }: Embedded,
  consoleLink: string | undefined,
  data: string | undefined,
  { paint }: Terminal,
): string {
  const where = data === undefined ? 'in memory, until it stops' : `in the folder ${data}`;
  return [
    `${paint.bold(`Espalier ${packageInfo().version}`)} serves ${paint.cyan(url)}; objects are kept ${where}.`,
    'Use it from another terminal:',
    '',
    `  export KUBECONFIG=${quoted(kubeconfigFile)}`,
    '  kubectl get installations,executions,deployitems -A',
    `  ${selfCommand()} installations inspect -A`,
    '',
    ...consoleLines(consoleLink, paint),
    'Press Ctrl-C to stop.',
    '',
  ].join('\n');
}
