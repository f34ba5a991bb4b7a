/** Starts the console for a cluster. */
import { setMaxListeners } from 'node:events';
import { targetReaderOf } from '../../../deployers/sdk/controller.ts';
import { secureRng } from '../../lib/secure-rng.ts';
import { silentLogger } from '../../observability/log.ts';
import { CommandError } from '../errors.ts';
import type { Cluster } from '../cluster.ts';
import { packageInfo } from '../package.ts';
import { readAssets } from './assets.ts';
import { createPlanners } from './changes/plan-process.ts';
import { createSessions } from './guard.ts';
import { loopbackAccess } from './loopback.ts';
import { modelOfSource, watchSource } from './model.ts';
import { createServer, listen } from './server.ts';

interface ConsoleOptions {
  /** undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** 0: a free one; undefined: the usual one, or a free one if it is in use. */
  readonly port: number | undefined;
  /** Arguments of `espalier plan`: the same cluster, and what plans depend on besides. */
  readonly planArgs: readonly string[];
}

interface RunningConsole {
  /** Address with a token; valid until the console stops. */
  readonly link: string;
  /** Address with a token that works once, for arguments of programs. */
  onceLink(): string;
  close(): Promise<void>;
}

const USUAL_PORT = 8082;

/** @throws CommandError if the console is not built, or the port is not available */
export async function startConsole(
  { client, caches, clock, self }: Pick<Cluster, 'client' | 'caches' | 'clock' | 'self'>,
  { namespace, port: wanted, planArgs }: ConsoleOptions,
): Promise<RunningConsole> {
  const assets = readAssets();
  const sessions = createSessions();
  const life = new AbortController();
  setMaxListeners(0, life.signal);
  const stop = (): void => {
    life.abort(new Error('the console stops'));
  };
  // Without this, the watches keep the process alive after the error.
  const namespaces = namespace === undefined ? undefined : [namespace];
  const source = await watchSource(caches, namespaces, life.signal).catch((error: unknown) => {
    stop();
    throw error;
  });
  let port = 0;
  const access = loopbackAccess({
    model: modelOfSource(source),
    client,
    targets: targetReaderOf({ client, clock, log: silentLogger, rng: secureRng, signal: life.signal, self }),
    plan: createPlanners({ planArgs })({ id: '' }),
    clock,
    sessions,
    about: {
      version: packageInfo().version,
      server: self.server,
      namespaces: namespaces ?? 'all',
      user: '',
    },
    port: () => port,
  });
  const server = createServer({ access, assets });
  const close = async (): Promise<void> => {
    stop();
    await server.close();
  };
  try {
    port = await listen(server, { port: wanted ?? USUAL_PORT }).catch((error: unknown) => {
      if (wanted !== undefined || !(error instanceof CommandError)) throw error;
      return listen(server, { port: 0 });
    });
  } catch (error) {
    await close();
    throw error;
  }
  const linkWith = (token: string): string => `http://127.0.0.1:${String(port)}/#token=${token}`;
  return { link: linkWith(sessions.token), onceLink: () => linkWith(sessions.createOnceToken()), close };
}
