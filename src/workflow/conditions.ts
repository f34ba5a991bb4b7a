/** Common conditions: the object is gone, a status condition is True, a kind is served. */
import type { Clock } from '../lib/clock.ts';
import { isObject, ownField } from '../lib/objects.ts';
import { CustomResourceDefinition } from '../runtime/core-kinds.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client, Obj } from '../runtime/types.ts';
import type { Condition } from './node.ts';

/**
 * For `deleted`: all objects of the node are gone, including those that wait for finalizers. Use it with `gc: false`.
 */
export const isGone: Condition<Obj> = async (node) => (await node.all()).size === 0;

/** For `ready`: the object exists, and a condition of its status has the status `True`. */
export const hasStatusCondition =
  (type: string): Condition<Obj> =>
  async (node) => {
    const conditions = ownField(ownField(await node.actual(), 'status'), 'conditions');
    if (!Array.isArray(conditions)) return false;
    return conditions.some(
      (entry) => isObject(entry) && entry['type'] === type && entry['status'] === 'True',
    );
  };

// ---------------------------------------------------------------- kinds

/** Number of checks for a kind at the short interval; later checks use the long one. */
const QUICK_CHECKS = 10;
const QUICK_MS = 10_000;
const SLOW_MS = 600_000;

/** What is known about one CustomResourceDefinition of one cluster. */
interface Search {
  hasFound: boolean;
  checks: number;
  nextAt: number;
  checking: Promise<void> | undefined;
}

const searches = new WeakMap<object, Map<string, Search>>();

function searchFor(name: string, cluster: object): Search {
  let ofCluster = searches.get(cluster);
  if (!ofCluster) searches.set(cluster, (ofCluster = new Map<string, Search>()));
  let search = ofCluster.get(name);
  if (!search) {
    search = { hasFound: false, checks: 0, nextAt: -Infinity, checking: undefined };
    ofCluster.set(name, search);
  }
  return search;
}

async function check(search: Search, name: string, live: Pick<Client, 'get'>, clock: Clock): Promise<void> {
  search.checks++;
  try {
    // Several reconciles wait for this request, so it does not end with the signal of one of them.
    const crd = await getIfThere(live, CustomResourceDefinition, name);
    search.hasFound = crd !== undefined && isEstablished(crd);
  } finally {
    search.nextAt = clock.now() + (search.checks < QUICK_CHECKS ? QUICK_MS : SLOW_MS);
    search.checking = undefined;
  }
}

/**
 * For `active`: the CustomResourceDefinition `name`, such as `widgets.example.io`, exists and is established. All
 * users of a cluster share the requests: ten at intervals of 10 s, then one every 10 min. There are none after it was
 * found.
 */
export const crdPresent =
  (name: string): Condition<Obj> =>
  async (_node, _p, { live, clock }) => {
    const search = searchFor(name, live);
    if (!search.hasFound && clock.now() >= search.nextAt)
      await (search.checking ??= check(search, name, live, clock));
    return search.hasFound || { met: false, requeueAfterMs: Math.max(1, search.nextAt - clock.now()) };
  };

function isEstablished(crd: Obj): boolean {
  const conditions = ownField(ownField(crd, 'status'), 'conditions');
  if (!Array.isArray(conditions)) return false;
  return conditions.some(
    (entry) => ownField(entry, 'type') === 'Established' && ownField(entry, 'status') === 'True',
  );
}
