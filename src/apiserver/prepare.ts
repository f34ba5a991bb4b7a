/** The parts of an API server that need no sockets: storage, handlers, CRDs, bootstrap objects, controllers. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { systemRng } from '../lib/rng.ts';
import type { Rng } from '../lib/rng.ts';
import { silentLogger } from '../observability/log.ts';
import type { World } from './api.ts';
import { assemble } from './assembly.ts';
import type { Assembled } from './assembly.ts';
import type { Identity } from './auth/identity.ts';
import { bootstrap } from './bootstrap.ts';
import { startControllers } from './controllers/index.ts';
import type { Controllers } from './controllers/index.ts';
import { CrdController } from './crd/crd.ts';
import { AuditLog } from './http/audit.ts';
import type { Handler } from './http/handler.ts';
import { conversionPost } from './http/webhook-post.ts';
import { collectionUrl, InternalClient } from './internal.ts';
import { createRegistry } from './kinds/registry.ts';
import type { ApiServerOptions } from './server.ts';
import type { Store } from './store/storage.ts';
import { WatchHub } from './store/watch-hub.ts';
import { TestHooks } from './test-hooks.ts';
import type { UserInfo } from './types.ts';

interface Prepared extends Pick<Assembled, 'handler' | 'authenticator'> {
  readonly audit: AuditLog;
  readonly test: TestHooks;
  readonly controllers: Controllers;
  /** Makes `/readyz` succeed. */
  readonly ready: () => void;
}

/** Creates the bootstrap objects, and starts everything except for the sockets. */
export async function prepare(
  options: ApiServerOptions,
  world: World,
  identity: Identity,
): Promise<Prepared> {
  const { tls = true } = options.listen ?? {};
  const audit = new AuditLog();
  const test = new TestHooks(world);
  let isReady = false;
  const { handler, authenticator, mint } = assemble({
    world,
    identity,
    audit,
    test,
    mode: options.authorization ?? 'AlwaysAllow',
    users: options.users ?? [],
    anonymousIsAdmin: !tls,
    isReady: () => isReady,
    services: options.services ?? {},
  });
  const controllers = await startWork(options, world, handler, { ca: tls ? identity.ca : '', mint });
  const ready = (): void => {
    isReady = true;
  };
  return { handler, authenticator, audit, test, controllers, ready };
}

/** Starts the parts that work on objects: CRDs, bootstrap objects, simulated controllers. */
async function startWork(
  options: ApiServerOptions,
  world: World,
  handler: Handler,
  trust: { readonly ca: string; readonly mint: Assembled['mint'] },
): Promise<Controllers> {
  const user: UserInfo = { username: 'system:apiserver', groups: ['system:masters'] };
  const self = new InternalClient(handler, user, 'kube-apiserver');
  const post = options.postConversion ?? conversionPost(world.clock, options.services ?? {});
  new CrdController(world, post, async (kind) => {
    const entries = [...world.store.resource(kind.resource).entries.values()];
    for (const namespace of new Set(entries.map((entry) => entry.obj.metadata.namespace ?? '')))
      await self.request('DELETE', collectionUrl(kind, namespace));
  });
  await bootstrap(world, self);
  return startControllers({
    world,
    handler,
    ...trust,
    enabled: options.controllers ?? {},
    simulate: options.simulate ?? false,
  });
}

export function createWorld(options: ApiServerOptions, clock: Clock, store: Store): World {
  const rng = options.rng ?? systemRng;
  return {
    store,
    registry: createRegistry(),
    hub: new WatchHub(store, clock),
    clock,
    rng,
    log: options.log ?? silentLogger,
    newUid: options.rng ? () => uuidFrom(rng) : randomUUID,
    issuer: 'https://kubernetes.default.svc.cluster.local',
  };
}

/** A version 4 uuid from an injected random source. */
function uuidFrom(rng: Rng): string {
  const hex = Array.from({ length: 32 }, (_, i) =>
    i === 12
      ? '4'
      : i === 16
        ? (8 + Math.floor(rng.next() * 4)).toString(16)
        : Math.floor(rng.next() * 16).toString(16),
  ).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
