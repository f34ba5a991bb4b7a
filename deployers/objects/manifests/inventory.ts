/**
 * The inventory: a deployer's record of the objects that it created. An object is recorded before it is created, so
 * that a crash leaves no unrecorded object. An entry is removed only if its object is gone or no longer belongs to
 * the item. Pure.
 */
import { idOf, isForeign, type ManagedResource, refOf } from './model.ts';
import { sorted, stageOf, stages, type ResolvedManifest } from './order.ts';

/** The entry of a manifest. @param uid empty if the object does not exist yet */
export function entryOf(manifest: ResolvedManifest, uid: string | undefined): ManagedResource {
  const { policy, annotateBeforeDelete, patchBeforeDelete, object } = manifest;
  return {
    policy,
    resource: { ...refOf(object), ...(uid !== undefined && { uid }) },
    ...(annotateBeforeDelete && { annotateBeforeDelete }),
    ...(patchBeforeDelete && { patchBeforeDelete }),
  };
}

/** Whether the entry was recorded before its object was created. */
export const isIntent = ({ resource }: ManagedResource): boolean => resource.uid === '';

/** Entries of one apply, stage by stage, each in its own order. */
export function inOrder(
  entries: readonly { readonly manifest: ResolvedManifest; readonly entry: ManagedResource }[],
): ManagedResource[] {
  return stages.flatMap((stage) =>
    sorted(entries.filter(({ manifest }) => stageOf(manifest) === stage).map(({ entry }) => entry)),
  );
}

/** Entries of `old` without an entry in `current`. */
export function entriesMissingIn(
  old: readonly ManagedResource[],
  current: readonly ManagedResource[],
): readonly ManagedResource[] {
  const ids = new Set(current.map(({ resource }) => idOf(resource)));
  const uids = new Set(current.map(({ resource }) => resource.uid));
  return old.filter(({ resource }) => !ids.has(idOf(resource)) && !(resource.uid && uids.has(resource.uid)));
}

/** `current`, and the entries of `old` that it does not contain. */
export const union = (
  old: readonly ManagedResource[],
  current: readonly ManagedResource[],
): readonly ManagedResource[] => [...current, ...entriesMissingIn(old, current)];

/** The inventory to store before an apply: existing entries, and an intent for each object that may be created. */
export function intended(
  old: readonly ManagedResource[],
  manifests: readonly ResolvedManifest[],
): readonly ManagedResource[] {
  const known = new Map(old.map((entry) => [idOf(entry.resource), entry]));
  const current = manifests
    .filter(({ policy }) => !isForeign(policy))
    .map((p) => {
      const entry = entryOf(p, '');
      const before = known.get(idOf(entry.resource));
      return { manifest: p, entry: before ? entryOf(p, before.resource.uid) : entry };
    });
  return union(old, inOrder(current));
}

/** Whether to delete an object whose entry leaves the inventory; with policy `fallback`, its label decides. */
export function removalFor({ policy }: ManagedResource): 'delete' | 'deleteIfOwned' | 'leave' {
  if (policy === 'keep' || policy === 'ignore') return 'leave';
  return policy === 'fallback' ? 'deleteIfOwned' : 'delete';
}
