/** A plugin as a controller of the runtime: its sources, its events, and the dependencies of its worker. */
import { operations } from '../../src/api/labels.ts';
import { hasOperation, isFinished } from '../../src/api/job.ts';
import { MANAGED_UID, managedUids, managersIn } from '../../src/api/managed-objects.ts';
import { readinessAt } from '../../src/machine/readiness.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { randomSuffix, type Rng } from '../../src/lib/rng.ts';
import { createClientPool } from '../../src/runtime/transport/client-pool.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { createDiscovery, createKindCache, type KindCache } from '../../src/runtime/transport/discovery.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { defaultResponses } from '../../src/runtime/transport/responses.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import { SLOW_RECONCILE_MS, type ControllerSpec } from '../../src/runtime/controller/spec.ts';
import type { Change, View } from '../../src/runtime/types.ts';
import type { DeployerDeps, DeployerPlugin } from './deployer.ts';
import { CONTEXT, DEPLOY_ITEM, EXECUTION, TARGET, type DeployItem } from './kinds.ts';
import type { KubeAccess } from './access.ts';
import { checkSelectors, isOfType } from './responsible.ts';
import { createTargetReader, type TargetReader } from './target.ts';
import { standardTimeouts } from './timeout.ts';
import { createTokens } from './tokens.ts';
import { createWorker } from './worker.ts';

const DEFAULT_WORKERS = 30;
/** How long the client of an unused target stays open. */
const IDLE_MS = 5 * 60_000;

/**
 * The controller for the deploy items of a plugin's type.
 * @throws InvalidSelector when the configured target selectors are invalid
 */
export function deployerController(plugin: DeployerPlugin, deps: DeployerDeps): ControllerSpec<DeployItem> {
  const { client, caches, clock, rng, config = {} } = deps;
  checkSelectors(config.targetSelector ?? []);
  const items = caches.of(DEPLOY_ITEM);
  items.index(MANAGED_UID, managedUids);
  const isScheduling = plugin.schedule !== undefined && config.continuousReconcile?.enabled !== false;
  const worker = createWorker({
    deps,
    plugin,
    identity: deps.identity ?? uniqueIdentity(plugin, clock, rng),
    client,
    clock,
    rng,
    rules: config.readiness,
    tracer: deps.tracer,
    readiness: deps.readiness ?? readinessAt(clock, true),
    timeouts: deps.timeouts ?? standardTimeouts,
    targets: caches.of(TARGET),
    contexts: caches.of(CONTEXT),
    managersOf: (uid) => managersIn(items, uid),
    isOpen: (key) => {
      const item = items.get(key);
      return item !== undefined && !isFinished(item);
    },
    executions: isScheduling ? caches.of(EXECUTION) : undefined,
    reader: deps.reader ?? targetReaderOf(deps),
  });
  const hasWork = (item: View<DeployItem>): boolean =>
    isOfType(item, plugin.type) &&
    (isScheduling || !isFinished(item) || hasOperation(item.metadata, operations.testReconcile));
  const isOver = (change: Change<DeployItem>): boolean =>
    plugin.onJobEnded !== undefined && isOfType(change.obj, plugin.type) && isInterruption(change);
  const watched = plugin.watches?.(caches) ?? [];
  return {
    name: plugin.name,
    kind: DEPLOY_ITEM,
    reconciler: worker,
    maxConcurrent: config.workers ?? DEFAULT_WORKERS,
    freesWorkerAfterMs: SLOW_RECONCILE_MS,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    defaults: false,
    retry: 'fast',
    filter: {
      add: hasWork,
      update: (old, obj) => hasWork(obj) || isOver({ type: 'update', old, obj, relisted: false }),
      delete: () => false,
    },
    interruptWhen: isInterruption,
    sources: watched.map(({ cache, toItems }) => watchSource({ cache, toPrimary: toItems })),
  };
}

/** Upstream's identities end with the second of the start, in which several processes may start. */
const uniqueIdentity = ({ name }: DeployerPlugin, clock: Clock, rng: Rng): string =>
  `${name}-${String(Math.floor(clock.wall() / 1000))}-${randomSuffix(rng)}`;

/** Reads targets. Deployers that share it also share clients and tokens. */
export function targetReaderOf(
  deps: Pick<DeployerDeps, 'client' | 'clock' | 'log' | 'rng' | 'connect' | 'signal' | 'self' | 'textsOf'>,
): TargetReader {
  const { client, clock, self, textsOf } = deps;
  const pool = createClientPool(clock, deps.connect ?? connectorOf(deps), IDLE_MS);
  deps.signal?.addEventListener('abort', () => void pool.close(), { once: true });
  return createTargetReader({ client, pool, clock, tokens: createTokens(client, clock), self, textsOf });
}

/** Another client ended the job that is being reconciled. */
const isInterruption = (change: Change<DeployItem>): boolean =>
  change.type === 'delete' || (change.type === 'update' && !isFinished(change.old) && isFinished(change.obj));

/** Connects to a target cluster with its kubeconfig. The clusters of a namespace share the memory for their kinds. */
export function connectorOf({
  clock,
  log,
  rng,
  responses,
}: Pick<DeployerDeps, 'clock' | 'log' | 'rng' | 'responses'>) {
  const kinds = new Map<string, { readonly cache: KindCache; clusters: number }>();
  let connections = 0;
  return async (kubeconfig: string, namespace?: string): Promise<KubeAccess> => {
    const connection = await connect({
      kubeconfig: { text: kubeconfig },
      userAgent: 'espalier-deployer',
      clock,
      log,
      rng,
      responses: responses ?? defaultResponses.target,
      isTraced: true,
      ...(namespace !== undefined && { usedBy: namespace }),
    });
    const client = createClient(connection);
    const owner = namespace ?? '';
    const known = kinds.get(owner) ?? { cache: createKindCache(), clusters: 0 };
    kinds.set(owner, known);
    known.clusters++;
    const discovery = createDiscovery(client, { cache: known.cache, cluster: String(connections++) });
    return {
      client,
      server: connection.server,
      kindOf: (...wanted) => discovery.kindOf(...wanted),
      async close() {
        if (--known.clusters === 0) kinds.delete(owner);
        await client.close();
      },
    };
  };
}
