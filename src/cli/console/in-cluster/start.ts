/** Starts the console in a cluster, for viewers who log in with their tokens. */
import { setMaxListeners } from 'node:events';
import { Server as TlsServer } from 'node:tls';
import type { Logger } from '../../../observability/log.ts';
import {
  followCertificateFiles,
  readCertificateFiles,
  type CertificateFiles,
} from '../../../runtime/certificate-files.ts';
import type { Cluster } from '../../cluster.ts';
import { packageInfo } from '../../package.ts';
import { readAssets } from '../assets.ts';
import { watchSource } from '../model.ts';
import { createServer, listen } from '../server.ts';
import { allowedFor, type Allowances } from './allowances.ts';
import type { OriginRules } from './origin.ts';
import { tokenAccess } from './token-access.ts';
import { clientsOf } from './viewer-client.ts';

interface InClusterOptions {
  readonly host: string;
  readonly port: number;
  /** undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly rules: OriginRules;
  readonly allowances: Allowances;
  /** For processes that plan; those get only some variables of it. */
  readonly env: NodeJS.ProcessEnv;
  /** undefined: HTTP. */
  readonly certificate: CertificateFiles | undefined;
}

interface RunningConsole {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 1_000;

/** @throws UnusableCertificate; CommandError if the console is not built, or the port is not available */
export async function startInCluster(
  { caches, clock, self }: Pick<Cluster, 'caches' | 'clock' | 'self'>,
  { host, port, namespaces, rules, allowances, env, certificate: files }: InClusterOptions,
  log: Logger,
): Promise<RunningConsole> {
  const assets = readAssets();
  const certificate = files && readCertificateFiles(files);
  const life = new AbortController();
  setMaxListeners(0, life.signal);
  try {
    const source = await watchSource(caches, namespaces, life.signal);
    const about = { version: packageInfo().version, server: self.server };
    const access = tokenAccess({
      source,
      clientOf: clientsOf(self, { clock, log }),
      clock,
      log,
      about,
      rules,
      allowedFor: allowedFor(allowances, self, { clock, log, env }),
    });
    const server = createServer({ access, assets, ...(certificate && { certificate }) });
    server.server.maxConnections = MAX_CONNECTIONS;
    const stopFollowing =
      files &&
      certificate &&
      followCertificateFiles(files, certificate, {
        clock,
        log,
        use: (next) => {
          if (server.server instanceof TlsServer) server.server.setSecureContext(next);
        },
      });
    const close = async (): Promise<void> => {
      stopFollowing?.();
      life.abort(new Error('the console stops'));
      await server.close();
    };
    try {
      return { port: await listen(server, { host, port }), close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    life.abort(new Error('the console stops'));
    throw error;
  }
}
