/**
 * Optimistic locking for writes without a resource version: sends the write with the version of the cache, so a success
 * proves that the returned version is that of our write. If the version is outdated, the write is sent as given.
 */
import { AlreadyExists, Conflict, Invalid } from '../errors.ts';
import { namespaceOf } from '../keys.ts';
import { namespacesOf } from '../cache/namespace-scope.ts';
import { parseSelector } from '../cache/selector.ts';
import type { Cache, Key, Obj, Write } from '../types.ts';

/**
 * No object has this resource version: an apply that contains it creates the object, or fails with a conflict if it
 * exists.
 */
export const CREATE_ONLY = '1';

/**
 * The write with the resource version of the cache; undefined if the write has one, if `lock` is set, or if none is known.
 * @param caches those of the kind
 */
export function withResourceVersion<T extends Obj>(
  write: Write<T>,
  key: Key,
  caches: readonly Cache<Obj>[],
): Write<T> | undefined {
  if (write.lock !== undefined || write.isDryRun) return undefined;
  const version = caches.map((cache) => cache.versionOf(key)).find((each) => each !== undefined);
  switch (write.verb) {
    case 'apply':
    case 'replace': {
      if (write.object.metadata.resourceVersion !== undefined) return undefined;
      const isNew = version === undefined && isMissing(write, key, caches);
      const resourceVersion = isNew ? CREATE_ONLY : version;
      if (resourceVersion === undefined) return undefined;
      const { object } = write;
      return { ...write, object: { ...object, metadata: { ...object.metadata, resourceVersion } } };
    }
    case 'merge':
    case 'strategic': {
      const { metadata } = write.body as Partial<Obj>;
      if (version === undefined || metadata?.resourceVersion !== undefined) return undefined;
      return { ...write, body: { ...write.body, metadata: { ...metadata, resourceVersion: version } } };
    }
    case 'json': {
      if (version === undefined) return undefined;
      const guard = { op: 'test', path: '/metadata/resourceVersion', value: version } as const;
      return { ...write, ops: [guard, ...write.ops], lock: true };
    }
    default:
      return undefined;
  }
}

/** Whether the refusal may be due to the version; the write is then sent without it. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof Conflict || error instanceof AlreadyExists || error instanceof Invalid;

/** Whether a cache would contain the object if it existed. */
function isMissing<T extends Obj>(write: Write<T>, key: Key, caches: readonly Cache<Obj>[]): boolean {
  if (write.verb !== 'apply' || write.sub) return false;
  const { labels } = write.object.metadata;
  return caches.some(({ isSynced, options }) => {
    const namespaces = namespacesOf(options);
    const isInScope = namespaces === 'all' || namespaces.includes(namespaceOf(key));
    return isSynced && isInScope && !options?.fields && parseSelector(options?.labels).matches(labels);
  });
}
