/** `espalier container init` and `wait`: the programs of the helper containers. The deployer's pods run them. */
import { readEnvironment } from '../../../deployers/container/programs/environment.ts';
import { runInit } from '../../../deployers/container/programs/init.ts';
import { runWait } from '../../../deployers/container/programs/wait.ts';
import { createComponentRepositories } from '../../components/component-repositories.ts';
import { systemClock as clock } from '../../lib/clock.ts';
import { secureRng as rng } from '../../lib/secure-rng.ts';
import { createClient } from '../../runtime/transport/client.ts';
import { connect } from '../../runtime/transport/http.ts';
import { findKubeconfig } from '../../runtime/transport/kubeconfig.ts';
import { onInterrupt } from '../../runtime/manager/signals.ts';
import type { Client } from '../../runtime/types.ts';
import { UsageError } from '../errors.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../logging.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ContainerProgramOptions extends LogOptions {
  readonly kubeconfig?: string;
  /** Whether registries without TLS are allowed. */
  readonly allowPlainHttp?: true;
}

export async function containerInit(options: ContainerProgramOptions, terminal: Terminal): Promise<void> {
  await inContainer(options, terminal, async ({ log, client, signal }) => {
    const plain = options.allowPlainHttp === true;
    const repositories = createComponentRepositories({
      clock,
      rng,
      signal,
      ...(plain && { allowPlainHttp: true }),
    });
    try {
      await runInit(readEnvironment(terminal.env), { client, repositories, log });
    } finally {
      await repositories.close();
    }
  });
}

export async function containerWait(options: ContainerProgramOptions, terminal: Terminal): Promise<void> {
  await inContainer(options, terminal, async ({ log, client, signal }) => {
    const environment = readEnvironment(terminal.env);
    await runWait(environment, { client: await client(), clock, rng, log, signal });
  });
}

interface ContainerServices {
  readonly log: ReturnType<typeof loggerFor>;
  readonly client: () => Promise<Client>;
  readonly signal: AbortSignal;
}

/**
 * Reports a failure as one sentence, because the kubelet uses the end of the output as the message of the
 * container.
 */
async function inContainer(
  options: ContainerProgramOptions,
  terminal: Terminal,
  work: (services: ContainerServices) => Promise<void>,
): Promise<void> {
  applyVerbosity(terminal, options);
  const log = loggerFor(options, { level: 'info' });
  // Kubelets repeat the signal if the pod is deleted while it ends; work would be lost.
  const interruption = onInterrupt(undefined, () => undefined);
  let client: Promise<Client> | undefined;
  try {
    await work({ log, signal: interruption.signal, client: () => (client ??= open(options, terminal, log)) });
  } finally {
    await client?.then(
      (opened) => opened.close(),
      () => undefined,
    );
    interruption.release();
  }
}

async function open(
  { kubeconfig: file }: ContainerProgramOptions,
  { env }: Terminal,
  log: ContainerServices['log'],
): Promise<Client> {
  const kubeconfig = file === undefined ? findKubeconfig(env) : { file };
  if (!kubeconfig)
    throw new UsageError(
      'no cluster given: this process does not run in a pod, and neither --kubeconfig nor KUBECONFIG is set',
    );
  return createClient(await connect({ kubeconfig, userAgent: 'espalier-container', clock, rng, log }));
}
