/** Public interface of the embedded API server: start and stop. */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Rng } from '../lib/rng.ts';
import type { Logger } from '../observability/log.ts';
import type { AuthorizationMode } from './auth/access.ts';
import type { World } from './api.ts';
import type { AuditLog } from './http/audit.ts';
import { ADMIN, authenticated } from './auth/authn.ts';
import type { StaticUser } from './auth/authn.ts';
import type { ControllerName } from './controllers/index.ts';
import { listen } from './http/http.ts';
import { Identity } from './auth/identity.ts';
import { kubeconfigText } from './kubeconfig.ts';
import type { KubeconfigUser } from './kubeconfig.ts';
import { createWorld, prepare } from './prepare.ts';
import { Store } from './store/storage.ts';
import type { TestHooks } from './test-hooks.ts';
import type { UserInfo } from './types.ts';
import type { PostReview } from './http/webhook-post.ts';
import { FileLog } from './store/wal.ts';

type StorageOptions =
  | { readonly kind: 'memory' }
  /** `dir` also stores the certificates, so that kubeconfigs stay valid after a restart. */
  | { readonly kind: 'file'; readonly dir: string };

export interface ApiServerOptions {
  /** Default: 127.0.0.1, any free port, TLS. Without TLS, requests without credentials have administrator rights. */
  readonly listen?: { readonly host?: string; readonly port?: number; readonly tls?: boolean };
  /** Default: memory. */
  readonly storage?: StorageOptions;
  /** Number of changes to keep for watches: default 10 000 per resource, and all of the last 300 s. */
  readonly history?: { readonly events: number; readonly seconds: number };
  /** Default: AlwaysAllow, for all authenticated users. */
  readonly authorization?: AuthorizationMode;
  readonly users?: readonly StaticUser[];
  /** Disables simulated controllers; by default all run. */
  readonly controllers?: Partial<Record<ControllerName, boolean>>;
  /**
   * URLs of the services that admission webhooks reference, keyed by `namespace/name`, because there is no cluster
   * network.
   */
  readonly services?: Readonly<Record<string, string>>;
  /** Sends reviews to conversion webhooks. Default: by HTTPS. */
  readonly postConversion?: PostReview;
  /** Makes workloads ready although no container runs; default false. */
  readonly simulate?: boolean;
  readonly clock?: Clock;
  readonly rng?: Rng;
  readonly log?: Logger;
}

interface ClientCredentials {
  readonly token: string;
  readonly kubeconfig: string;
}

export interface ApiServer {
  readonly url: string;
  /** PEM of the certificate authority; empty for plain HTTP. */
  readonly ca: string;
  /** Bearer token of the administrator. */
  readonly token: string;
  /** Kubeconfig of the administrator. */
  readonly kubeconfig: string;
  /** Credentials for another user: a bearer token. */
  client(user?: UserInfo): ClientCredentials;
  /** Credentials for another user: a client certificate. */
  certificateClient(user?: UserInfo): {
    readonly certificate: string;
    readonly key: string;
    readonly kubeconfig: string;
  };
  readonly audit: AuditLog;
  readonly test: TestHooks;
  /** Ends watches, closes sockets, and writes all data to disk. */
  close(): Promise<void>;
}

/**
 * Starts an API server for kubectl, Helm and client libraries.
 *
 * *Guarantees*: when it resolves, the server accepts requests and its bootstrap objects exist. Every request is in
 * `audit`. With file storage, an answered write survives the process. *Errors*: DataUnusable if the data folder is
 * in use or damaged; rejects if the port is not available.
 */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const clock = options.clock ?? systemClock;
  const store = new Store(options.history ?? { events: 10_000, seconds: 300 }, () => clock.now());
  const { storage } = options;
  if (storage?.kind !== 'file') return serve(options, createWorld(options, clock, store), new Identity());
  const file = new FileLog(storage.dir, store, clock);
  try {
    const server = await serve(options, createWorld(options, clock, store), new Identity(storage.dir));
    return {
      ...server,
      close: async () => {
        await server.close();
        file.close();
      },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

async function serve(options: ApiServerOptions, world: World, identity: Identity): Promise<ApiServer> {
  const { host = '127.0.0.1', port = 0, tls = true } = options.listen ?? {};
  const { handler, authenticator, audit, test, controllers, ready } = await prepare(options, world, identity);
  const ca = tls ? identity.ca : '';
  const certificate = tls ? identity.serverCertificate(host) : undefined;
  const material = certificate && { key: certificate.key, cert: certificate.certificate, ca };
  const listener = await listen(handler, host, port, material).catch((error: unknown) => {
    controllers.stop();
    throw error;
  });
  ready();
  const url = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${listener.port}`;
  const configFor = (user: KubeconfigUser): string => kubeconfigText(url, ca === '' ? undefined : ca, user);
  const token = identity.adminToken;
  return {
    url,
    ca,
    token,
    kubeconfig: configFor({ token }),
    audit,
    test,
    client(user = ADMIN) {
      const fresh = randomBytes(24).toString('base64url');
      authenticator.add({ ...authenticated(user), token: fresh });
      return { token: fresh, kubeconfig: configFor({ token: fresh }) };
    },
    certificateClient(user = ADMIN) {
      const own = identity.clientCertificate(user);
      return { ...own, kubeconfig: configFor(own) };
    },
    async close() {
      controllers.stop();
      world.hub.close();
      await listener.close();
    },
  };
}
