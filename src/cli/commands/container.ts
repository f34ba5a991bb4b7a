/** `espalier container init` and `wait`: what the containers beside an image do. The deployer's pods call them. */
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
  /** Registries may be spoken to without TLS. */
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

interface Ground {
  readonly log: ReturnType<typeof loggerFor>;
  readonly client: () => Promise<Client>;
  readonly signal: AbortSignal;
}

/** Failures are one sentence: the kubelet makes the end of the output the message of the container. */
async function inContainer(
  options: ContainerProgramOptions,
  terminal: Terminal,
  work: (ground: Ground) => Promise<void>,
): Promise<void> {
  applyVerbosity(terminal, options);
  const log = loggerFor(options, { level: 'info' });
  const interruption = onInterrupt();
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
  log: Ground['log'],
): Promise<Client> {
  const kubeconfig = file === undefined ? findKubeconfig(env) : { file };
  if (!kubeconfig)
    throw new UsageError(
      'no cluster given: this process does not run in a pod, and neither --kubeconfig nor KUBECONFIG is set',
    );
  return createClient(await connect({ kubeconfig, userAgent: 'espalier-container', clock, rng, log }));
}
