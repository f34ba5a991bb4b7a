/** Discovery of kinds: one request per group and version, repeated if a kind is missing. */
import { NoSuchKind, NotFound } from '../errors.ts';
import { groupPath } from './path.ts';
import type { Client, Kind } from '../types.ts';

export { pathOf } from './path.ts';

/** Finds kinds in the API of a cluster. Results are cached; only missing kinds are requested again. */
interface Discovery {
  /** @throws NoSuchKind when the server does not serve it now; ApiError, TransportError when the request fails */
  readonly kindOf: (apiVersion: string, kind: string, signal?: AbortSignal) => Promise<Kind>;
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

type Kinds = ReadonlyMap<string, Kind>;

/**
 * Discovery for one cluster. Concurrent callers share one request per group and version. No request is sent before
 * the first call.
 */
export function createDiscovery(client: Client): Discovery {
  const known = new Map<string, Kinds>();
  const asking = new Map<string, Promise<Kinds>>();

  const ask = async (apiVersion: string): Promise<Kinds> => {
    const kinds = await readKinds(client, apiVersion);
    known.set(apiVersion, kinds);
    return kinds;
  };

  return {
    async kindOf(apiVersion, kind, signal) {
      signal?.throwIfAborted();
      const found = known.get(apiVersion)?.get(kind);
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

async function readKinds(client: Client, apiVersion: string): Promise<Kinds> {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  let list: ResourceList;
  try {
    list = (await client.raw('GET', groupPath({ group, version }))) as ResourceList;
  } catch (error) {
    if (error instanceof NotFound) return new Map();
    throw error;
  }
  const kinds = new Map<string, Kind>();
  for (const { name, kind, namespaced } of list.resources ?? []) {
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
