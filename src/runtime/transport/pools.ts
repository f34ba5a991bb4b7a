/** The sockets to one server: separate ones for requests, watches and the lease, which never delay each other. */
import type { Dispatcher } from 'undici';
import { loadPool } from '../../lib/undici.ts';
import { KubeconfigError } from '../errors.ts';
import type { Access, TlsMaterial } from './kubeconfig.ts';

export interface Pools {
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
  readonly lease: Dispatcher;
  /** Accepts no more requests and resolves when the last has ended. */
  close(): Promise<void>;
  /** Aborts all requests. */
  destroy(): Promise<void>;
}

/** kube-apiserver closes idle connections after 90 s, load balancers often after 60 s. */
const IDLE_MS = 45_000;
const CONNECT_MS = 10_000;
/** kube-apiserver responds within 60 s or times out. */
const ANSWER_MS = 65_000;
const LEASE_MS = 8_000;

export async function createPools(access: Access, tls: TlsMaterial, maxSockets: number): Promise<Pools> {
  const make = await dispatcherFactory(access, tls);
  const timeouts = { headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS };
  const requests = make({ connections: maxSockets, ...timeouts });
  // A watch may be silent for minutes; its reader has its own time limit.
  const watches = make({ ...timeouts, bodyTimeout: 0 });
  const lease = make({ connections: 2, headersTimeout: LEASE_MS, bodyTimeout: LEASE_MS });
  const all = [requests, watches, lease];
  return {
    requests,
    watches,
    lease,
    close: async () => {
      await Promise.all(all.map((dispatcher) => dispatcher.close()));
    },
    destroy: async () => {
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

interface PoolOptions {
  readonly connections?: number;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
}

async function dispatcherFactory(
  access: Access,
  tls: TlsMaterial,
): Promise<(options: PoolOptions) => Dispatcher> {
  const { origin } = new URL(access.server);
  const socket = { timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: 30_000 };
  const common = { keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS, pipelining: 1 };
  const proxy = access.proxyUrl;
  if (proxy === undefined) {
    const Pool = loadPool();
    return (options) => new Pool(origin, { ...common, ...options, connect: { ...socket, ...tls } });
  }
  if (!URL.canParse(proxy) || !/^(?:https?|socks5?):/.test(proxy))
    throw new KubeconfigError({ message: `the proxy-url of the cluster is not the URL of a proxy` });
  const { ProxyAgent, Socks5ProxyAgent } = await import('undici');
  const through = (dispatcher: Dispatcher, options: PoolOptions): Dispatcher =>
    withOrigin(dispatcher, origin, options);
  if (proxy.startsWith('socks')) {
    // undici's types omit the TLS options for the server behind the proxy.
    const requestTls = { requestTls: tls } as object;
    return (options) =>
      through(new Socks5ProxyAgent(proxy, { ...common, ...options, ...requestTls }), options);
  }
  return (options) =>
    through(
      new ProxyAgent({ uri: proxy, ...common, ...options, requestTls: { ...socket, ...tls } }),
      options,
    );
}

/** A pool has a fixed server and timeouts; an agent needs them for every request. */
const withOrigin = (dispatcher: Dispatcher, origin: string, options: PoolOptions): Dispatcher =>
  dispatcher.compose((dispatch) => (request, handler) => {
    const { headersTimeout, bodyTimeout } = options;
    return dispatch({ ...request, origin, headersTimeout, bodyTimeout }, handler);
  });
