/**
 * Reads from the server instead of caches. Dependents of one kind and label that read at the same time share one list
 * if there are three or more objects; otherwise each sends its own request.
 *
 * Results are not kept: a later read, such as that of a condition after a write, sends another request.
 */
import { keyOf, splitKey } from '../runtime/keys.ts';
import type { Key, Kind, Obj, View } from '../runtime/types.ts';
import { readLive, type SendOptions } from './access.ts';

/** From this number of objects, a list is cheaper than single requests. */
const LIST_FROM = 3;

type Access = Pick<SendOptions<Obj>, 'access' | 'signal'>;

interface Read {
  readonly key: Key;
  readonly answer: (obj: View<Obj> | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** Reads that wait for others to share a list with, by reconcile, cluster, and the list's parameters. */
const waiting = new WeakMap<object, Map<object, Map<string, Read[]>>>();

/**
 * Reads one object.
 * @param selector labels of all such objects; without it, objects are read one by one, because the list could be very
 * long
 * @param reconcile reads of one reconcile share lists
 * @throws ApiError or TransportError of the request
 */
export function readTogether<R extends Obj>(
  it: { readonly kind: Kind<R>; readonly key: Key; readonly selector: string | undefined },
  how: Access,
  reconcile: object,
): Promise<View<R> | undefined> {
  const { kind, key, selector } = it;
  if (selector === undefined) return readLive(kind, key, how);
  const { namespace } = splitKey(key);
  const reads = readsOf(
    reconcile,
    how.access.live,
    `${kind.group}/${kind.kind} ${namespace ?? ''} ${selector}`,
  );
  return new Promise((resolve, reject) => {
    reads.push({ key, answer: (obj) => resolve(obj as View<R> | undefined), fail: reject });
    if (reads.length > 1) return;
    // The other reads of this list are made within the same turn of the event loop.
    setImmediate(() => {
      const all = reads.splice(0);
      const query = { ...(namespace !== undefined && { namespace }), labels: selector };
      void (isWorthAList(all) ? listAll(kind, query, all, how) : readEach(kind, all, how));
    });
  });
}

const isWorthAList = (reads: readonly Read[]): boolean =>
  new Set(reads.map(({ key }) => key)).size >= LIST_FROM;

function readsOf(reconcile: object, cluster: object, of: string): Read[] {
  const clusters = getOr(waiting, reconcile, () => new Map<object, Map<string, Read[]>>());
  const sorts = getOr(clusters, cluster, () => new Map<string, Read[]>());
  return getOr(sorts, of, () => []);
}

async function listAll<R extends Obj>(
  kind: Kind<R>,
  query: { readonly namespace?: string; readonly labels: string },
  reads: readonly Read[],
  { access, signal }: Access,
): Promise<void> {
  try {
    const found = new Map<Key, View<Obj>>();
    for await (const { items } of access.live.list(kind, query, signal))
      for (const obj of items) found.set(keyOf(obj), obj);
    for (const { key, answer } of reads) answer(found.get(key));
  } catch (error) {
    for (const { fail } of reads) fail(error);
  }
}

async function readEach<R extends Obj>(kind: Kind<R>, reads: readonly Read[], how: Access): Promise<void> {
  await Promise.all(
    reads.map(({ key, answer, fail }) =>
      readLive(kind, key, how).then((obj) => answer(obj as View<Obj>), fail),
    ),
  );
}

function getOr<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
