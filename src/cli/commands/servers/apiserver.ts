/** `espalier apiserver`: runs the embedded API server. */
import { systemClock } from '../../../lib/clock.ts';
import { createClient } from '../../../runtime/transport/client.ts';
import { connect } from '../../../runtime/transport/http.ts';
import { startEmbedded, type Embedded } from '../../composition/embedded.ts';
import { ensureCrds } from '../../../landscape/ensure-crds.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import { quoted } from '../../self-command.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Logger } from '../../../observability/log.ts';

export interface ApiServerCommandOptions extends LogOptions {
  readonly data?: string;
  readonly host: string;
  readonly port?: number;
  readonly writeKubeconfig?: string;
  readonly simulate?: true;
  readonly controllers?: readonly string[];
  readonly crds?: true;
}

export async function apiserver(options: ApiServerCommandOptions, terminal: Terminal): Promise<void> {
  applyVerbosity(terminal, options);
  const log = loggerFor(options, { level: 'warn' });
  const { data, host, port } = options;
  const interruption = onInterrupt();
  try {
    const embedded = await startEmbedded({
      data,
      host,
      port,
      log,
      simulate: options.simulate === true,
      kubeconfigFile: options.writeKubeconfig,
      controllers: options.controllers,
    });
    try {
      if (options.crds) await installCrds(embedded, log);
      embedded.announce();
      terminal.print(`Serving ${embedded.url}`);
      terminal.print(`  export KUBECONFIG=${quoted(embedded.kubeconfigFile)}`);
      await aborted(interruption.signal);
    } finally {
      await embedded.close();
    }
  } finally {
    interruption.release();
  }
}

async function installCrds({ kubeconfig }: Embedded, log: Logger): Promise<void> {
  const clock = systemClock;
  const connection = await connect({
    kubeconfig: { text: kubeconfig },
    userAgent: 'espalier-cli',
    clock,
    log,
  });
  const client = createClient(connection);
  try {
    await ensureCrds(client, clock, log, { hasJournal: true });
  } finally {
    await client.close();
  }
}
