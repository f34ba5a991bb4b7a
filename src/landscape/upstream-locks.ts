/**
 * Respects the locks of upstream's replicas, which share their work with one SyncObject per installation and
 * execution. While the pod that holds a lock exists, our controllers skip the object. They never take a lock
 * themselves.
 */
import type { SyncObject } from '../api/kinds/syncobject.ts';
import type { Clock } from '../lib/clock.ts';
import type { ControllerSpec } from '../runtime/controller/controller.ts';
import { Forbidden, NotFound } from '../runtime/errors.ts';
import { watchSource } from '../runtime/sources/sources.ts';
import type { Cache, Client, Key, Kind, Obj, View } from '../runtime/types.ts';

/** Name of upstream's lock for an object: a prefix for its kind, and its uid. */
export const lockName = (kind: 'Installation' | 'Execution', uid: string): string =>
  `${kind === 'Installation' ? 'installations' : 'executions'}-${uid}`;

/** Whether a pod that holds a lock still exists. */
type PodExists = (name: string) => Promise<boolean>;

/** The interval at which upstream's replicas check a lock. */
const CHECK_INTERVAL_MS = 60_000;

/**
 * Wraps a controller so that it skips objects that a running replica of upstream has locked.
 * @param locksOf called only for a controller whose objects may be locked
 */
export function respectUpstreamLocks<P extends Obj>(
  spec: ControllerSpec<P>,
  locksOf: () => Cache<SyncObject>,
  podExists: PodExists,
): ControllerSpec<P> {
  const { kind } = spec.kind;
  if (kind !== 'Installation' && kind !== 'Execution') return spec;
  const locks = locksOf();
  const holderOf = ({ metadata: { namespace = '', uid = '' } }: View<Obj>): string =>
    locks.get(`${namespace}/${lockName(kind, uid)}`)?.spec.podName ?? '';
  return {
    ...spec,
    sources: [
      ...(spec.sources ?? []),
      watchSource({ name: 'locks', cache: locks, toPrimary: (lock) => lockedBy(kind, lock) }),
    ],
    reconciler: {
      ...spec.reconciler,
      async reconcile(primary, ctx) {
        const holder = holderOf(primary);
        if (holder === '' || !(await podExists(holder))) return spec.reconciler.reconcile(primary, ctx);
        ctx.log.info({ pod: holder }, 'object locked by another landscaper, skipped');
        return { write: 'none', requeueAfterMs: CHECK_INTERVAL_MS };
      },
    },
  };
}

const lockedBy = (kind: string, { metadata, spec }: View<SyncObject>): readonly Key[] =>
  spec.kind === kind ? [`${metadata.namespace ?? ''}/${spec.name}`] : [];

// ---------------------------------------------------------------- pods

const podKind: Kind<never> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** Upstream's pod name for a replica that does not know its pod; whether it exists cannot be determined. */
const UNKNOWN_POD = 'nopodname';
const CACHE_MS = 60_000;
/** Upstream has a few replicas, but a user who may write locks chooses the names in them. */
const MAX_CACHED = 1_000;

interface PodPorts {
  readonly client: Client;
  readonly clock: Clock;
  /**
   * The pod of this process. Upstream's replicas run in the same namespace; without it, pods of all namespaces are
   * searched.
   */
  readonly self?: { readonly name: string; readonly namespace: string };
}

/** Asks the API server at most once a minute for each pod. If it does not know, the pod counts as existing. */
export function podLookup({ client, clock, self }: PodPorts): PodExists {
  const cached = new Map<string, { readonly exists: boolean; readonly until: number }>();
  const podIsFound = async (name: string): Promise<boolean> => {
    try {
      if (self) {
        await client.get(podKind, `${self.namespace}/${name}`);
        return true;
      }
      for await (const page of client.list(podKind, { fields: `metadata.name=${name}` }))
        if (page.items.length > 0) return true;
      return false;
    } catch (error) {
      if (error instanceof NotFound) return false;
      if (error instanceof Forbidden) return true;
      throw error;
    }
  };
  return async (name) => {
    if (name === UNKNOWN_POD) return true;
    if (name === self?.name) return false; // a previous pod with the same name as this one
    const previous = cached.get(name);
    if (previous && clock.now() < previous.until) return previous.exists;
    const exists = await podIsFound(name);
    if (cached.size >= MAX_CACHED) cached.clear();
    cached.set(name, { exists, until: clock.now() + CACHE_MS });
    return exists;
  };
}
