/** Discovery of kinds: one request per group and version, repeated if a kind is missing. */
import { isObject, ownField } from '../../lib/objects.ts';
import { SizedMap } from '../../lib/sized-map.ts';
import { NoSuchKind, NotFound } from '../errors.ts';
import { apiVersionOf } from '../keys.ts';
import { groupPath } from './path.ts';
import type { Client, Kind } from '../types.ts';

export { pathOf } from './path.ts';

/** Finds kinds in the API of a cluster. Results are cached; only missing kinds are requested again. */
interface Discovery {
  /** @throws NoSuchKind when the server does not serve it now; ApiError, TransportError when the request fails */
  readonly kindOf: (apiVersion: string, kind: string, signal?: AbortSignal) => Promise<Kind>;
}

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

type Kinds = ReadonlyMap<string, Kind>;

/** Discovered kinds by cluster, group and version. Servers of tenants choose their number and their names. */
export type KindCache = Pick<SizedMap<Kinds>, 'get' | 'set'>;

/** Enough for tens of thousands of kinds; those that were not used for the longest time are requested again. */
const MAX_BYTES = 8 * 2 ** 20;
const KIND_BYTES = 128;

export const createKindCache = (): KindCache =>
  new SizedMap<Kinds>(MAX_BYTES, (kinds) =>
    [...kinds.values()].reduce((sum, { kind, plural }) => sum + kind.length + plural.length + KIND_BYTES, 0),
  );

/** A cache that several clusters share, and the name of the cluster in it. */
interface SharedKinds {
  readonly cache: KindCache;
  readonly cluster: string;
}

/**
 * Discovery for one cluster. Concurrent callers share one request per group and version. No request is sent before
 * the first call.
 * @param shared default: a cache of its own
 */
export function createDiscovery(
  client: Client,
  { cache, cluster }: SharedKinds = { cache: createKindCache(), cluster: '' },
): Discovery {
  const asking = new Map<string, Promise<Kinds>>();

  const ask = async (apiVersion: string): Promise<Kinds> => {
    const kinds = await readKinds(client, apiVersion);
    cache.set(`${cluster} ${apiVersion}`, kinds);
    return kinds;
  };

  return {
    async kindOf(apiVersion, kind, signal) {
      signal?.throwIfAborted();
      const found = cache.get(`${cluster} ${apiVersion}`)?.get(kind);
      if (found) return found;
      // All waiting callers share the request, so it does not end with the signal of the first one.
      let question = asking.get(apiVersion);
      if (!question) {
        question = ask(apiVersion).finally(() => asking.delete(apiVersion));
        asking.set(apiVersion, question);
      }
      const kinds = await untilAborted(question, signal);
      const answer = kinds.get(kind);
      if (!answer) throw new NoSuchKind({ apiVersion, kind });
      return answer;
    },
  };
}

/** Whether the API server serves a kind now, whatever a cache contains. @throws ApiError, TransportError */
export const isServed = async (client: Client, kind: Kind, signal?: AbortSignal): Promise<boolean> =>
  (await readKinds(client, apiVersionOf(kind), signal)).has(kind.kind);

async function readKinds(client: Client, apiVersion: string, signal?: AbortSignal): Promise<Kinds> {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  let resources: unknown;
  try {
    resources = ownField(
      await client.raw('GET', groupPath({ group, version }), undefined, signal),
      'resources',
    );
  } catch (error) {
    if (error instanceof NotFound) return new Map();
    throw error;
  }
  const kinds = new Map<string, Kind>();
  const listed: readonly Partial<Resource>[] = Array.isArray(resources) ? resources.filter(isObject) : [];
  for (const { name, kind, namespaced = false } of listed) {
    if (typeof name !== 'string' || typeof kind !== 'string') continue;
    // Names such as `pods/status` are subresources, not kinds.
    if (!name.includes('/')) kinds.set(kind, { group, version, kind, plural: name, namespaced });
  }
  return kinds;
}

function untilAborted<R>(promise: Promise<R>, signal: AbortSignal | undefined): Promise<R> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
