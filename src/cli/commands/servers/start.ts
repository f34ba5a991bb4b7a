/** `espalier start`: runs controllers and deployers on a cluster until it is stopped. */
import { defaults, readConfiguration } from '../../configuration/configuration.ts';
import { withDeployerFiles } from '../../configuration/deployer-files.ts';
import { kubeconfigSource, type ClusterOptions } from '../../kubeconfig.ts';
import { startLandscaper } from '../../composition/landscaper.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import type { Address, NamespacedName } from '../../terminal/options.ts';
import { ShutdownError } from '../../../runtime/errors.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface StartOptions extends ClusterOptions, LogOptions {
  readonly controllers?: readonly string[];
  readonly deployers?: readonly string[];
  readonly config?: string;
  /** Configuration files of single deployers. */
  readonly deployerConfig?: readonly string[];
  readonly metricsAddress?: Address;
  readonly lease?: NamespacedName;
  /** false with --no-crds. */
  readonly crds: boolean;
}

export async function start(options: StartOptions, terminal: Terminal): Promise<void> {
  applyVerbosity(terminal, options);
  const log = loggerFor(options, { level: 'info' });
  const kubeconfig = kubeconfigSource(options, terminal.env);
  const general = options.config === undefined ? defaults : readConfiguration(options.config, log);
  const configuration = withDeployerFiles(general, options.deployerConfig ?? [], log);
  const interruption = onInterrupt(() => {
    log.info({}, 'stopping; a second signal exits immediately');
  });
  const { signal } = interruption;
  try {
    const landscaper = await startLandscaper({
      kubeconfig,
      log,
      signal,
      crds: options.crds,
      configuration,
      tracing: configuration.tracing ?? {},
      ...(options.controllers && { controllers: options.controllers }),
      ...(options.deployers && { deployers: options.deployers }),
      ...(options.metricsAddress && { metricsAddress: options.metricsAddress }),
      ...(options.lease && { fleet: options.lease }),
    });
    try {
      log.info({ ...(landscaper.health && { health: landscaper.health.url }) }, 'started');
      await aborted(signal);
    } finally {
      await landscaper.stop();
    }
  } catch (error) {
    if (!(error instanceof ShutdownError && signal.aborted)) throw error;
  } finally {
    interruption.release();
  }
}
