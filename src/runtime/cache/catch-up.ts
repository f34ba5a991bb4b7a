/**
 * Waits until a cache contains at least what the server contains now. A process that takes over work from another one
 * needs this: the watch may be behind the last writes of the other process.
 */
import type { Clock } from '../../lib/clock.ts';
import { keyOf, namespaceOf } from '../keys.ts';
import type { Cache, Change, Client, Key, Obj, Query } from '../types.ts';
import { namespacesOf } from './namespace-scope.ts';
import { compareVersions } from './versions.ts';

/**
 * The list is repeated after this time: the watch reports no event for an object that was created and deleted between
 * two of its lists.
 */
const RELIST_MS = 5_000;

interface CatchUpPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether the cache is still in use. Default: always. */
  isNeeded?(): boolean;
}

/**
 * Lists the metadata once (once for each namespace of the cache), and waits for the open watch to deliver the rest.
 * @throws the error of the list; the signal's reason
 */
export async function catchUp(ports: CatchUpPorts, cache: Cache<Obj>, signal: AbortSignal): Promise<void> {
  for (;;) {
    const missing = await missingFrom(cache, ports.client, signal);
    if (missing.size === 0 || (await arrive(missing, cache, ports.clock, signal))) return;
    if (ports.isNeeded?.() === false) return;
  }
}

/** What the watch has not delivered yet: for each key the version to reach, or that its object is gone. */
type Missing = Map<Key, { readonly version: string; readonly isGone: boolean }>;

async function missingFrom(cache: Cache<Obj>, client: Client, signal: AbortSignal): Promise<Missing> {
  const missing: Missing = new Map();
  const listed = new Set<Key>();
  /** The version of each list, by namespace; '' stands for all of them. */
  const versions = new Map<string, string>();
  const { labels, fields } = cache.options ?? {};
  const namespaces = namespacesOf(cache.options);
  const selection = { ...(labels && { labels }), ...(fields && { fields }) };
  const hasReached = reachedIn(cache);
  for (const namespace of namespaces === 'all' ? [''] : namespaces) {
    const query: Query = { metadataOnly: true, ...selection, ...(namespace !== '' && { namespace }) };
    for await (const page of client.list(cache.kind, query, signal)) {
      versions.set(namespace, page.resourceVersion);
      for (const { metadata } of page.items) {
        const key = keyOf({ apiVersion: '', kind: '', metadata });
        const { resourceVersion = '' } = metadata;
        listed.add(key);
        if (!hasReached(cache.versionOf(key), resourceVersion))
          missing.set(key, { version: resourceVersion, isGone: false });
      }
    }
  }
  for (const key of cache.keys()) {
    // Objects of a namespace that is being removed are not watched any more.
    if (namespaces !== 'all' && !namespaces.includes(namespaceOf(key))) continue;
    const version = versions.get('') ?? versions.get(namespaceOf(key)) ?? '';
    if (!listed.has(key) && !hasReached(cache.versionOf(key), version))
      missing.set(key, { version, isGone: true });
  }
  return missing;
}

/** @returns whether the watch delivered everything within the time for one list */
function arrive(missing: Missing, cache: Cache<Obj>, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const hasReached = reachedIn(cache);
  return new Promise((resolve, reject) => {
    const finish = (how: () => void): void => {
      unsubscribe();
      cancel();
      signal.removeEventListener('abort', onAbort);
      how();
    };
    const onAbort = (): void => {
      finish(() => {
        reject(signal.reason as Error);
      });
    };
    const on = (change: Change<Obj>): void => {
      const key = keyOf(change.obj);
      const wanted = missing.get(key);
      if (
        !wanted ||
        (change.type !== 'delete' && !hasReached(change.obj.metadata.resourceVersion, wanted.version))
      )
        return;
      missing.delete(key);
      if (missing.size > 0) return;
      finish(() => {
        resolve(true);
      });
    };
    const cancel = clock.at(clock.now() + RELIST_MS, () => {
      finish(() => {
        resolve(false);
      });
    });
    signal.addEventListener('abort', onAbort, { once: true });
    let unsubscribe = (): void => undefined;
    unsubscribe = cache.subscribe({ name: 'catching up with the API server', ownEvents: 'deliver', on });
    if (signal.aborted) onAbort();
  });
}

type HasReached = (seen: string | undefined, version: string) => boolean;

/** Versions that cannot be compared are equal or not: of two different ones, the cache may have the older. */
const reachedIn = ({ options }: Cache<Obj>): HasReached =>
  options?.incomparableVersions
    ? (seen, version) => seen === version
    : (seen, version) => {
        if (seen === undefined) return false;
        const order = compareVersions(seen, version);
        return order === undefined || order >= 0;
      };
