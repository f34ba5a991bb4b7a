/** An API server without sockets, for a process that does everything in virtual time. */
import { systemClock } from '../lib/clock.ts';
import { Identity } from './auth/identity.ts';
import type { Handler } from './http/handler.ts';
import { createWorld, prepare } from './prepare.ts';
import type { ApiServerOptions } from './server.ts';
import { Store } from './store/storage.ts';

/** An API server in memory: requests are calls of its handler. */
export interface LocalApiServer {
  readonly handler: Handler;
  readonly store: Store;
  close(): void;
}

/** Starts an API server. With a virtual clock and a seeded `rng`, its answers depend on the requests only. */
export async function startLocalApiServer(
  options: Pick<ApiServerOptions, 'simulate' | 'controllers' | 'postConversion' | 'clock' | 'rng' | 'log'>,
): Promise<LocalApiServer> {
  const { clock = systemClock } = options;
  const store = new Store({ events: 10_000, seconds: 300 }, () => clock.now());
  const world = createWorld(options, clock, store);
  const { handler, controllers, ready } = await prepare(
    { ...options, listen: { tls: false } },
    world,
    new Identity(),
  );
  ready();
  return {
    handler,
    store,
    close() {
      controllers.stop();
      world.hub.close();
    },
  };
}
