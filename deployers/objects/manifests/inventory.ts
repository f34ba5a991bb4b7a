/**
 * What a deployer remembers of the objects it made. The list is noted before the first object is, so that a crash leaves
 * nothing behind that nobody knows of, and an entry leaves it only when its object is gone or no longer ours. Pure.
 */
import { idOf, isForeign, type ManagedResource, refOf } from './model.ts';
import { sorted, stageOf, stages, type Placed } from './order.ts';

/** The entry of a manifest. @param uid empty before the object is there */
export function entryOf(placed: Placed, uid: string | undefined): ManagedResource {
  const { policy, annotateBeforeDelete, patchBeforeDelete, object } = placed;
  return {
    policy,
    resource: { ...refOf(object), ...(uid !== undefined && { uid }) },
    ...(annotateBeforeDelete && { annotateBeforeDelete }),
    ...(patchBeforeDelete && { patchBeforeDelete }),
  };
}

/** Whether the entry was noted before its object was known to be there. */
export const isIntent = ({ resource }: ManagedResource): boolean => resource.uid === '';

/** Entries of one apply, stage by stage, each in its order. */
export function inOrder(
  entries: readonly { readonly placed: Placed; readonly entry: ManagedResource }[],
): ManagedResource[] {
  return stages.flatMap((stage) =>
    sorted(entries.filter(({ placed }) => stageOf(placed) === stage).map(({ entry }) => entry)),
  );
}

/** Entries of `old` that no entry of `current` stands for. */
export function leftOver(
  old: readonly ManagedResource[],
  current: readonly ManagedResource[],
): readonly ManagedResource[] {
  const ids = new Set(current.map(({ resource }) => idOf(resource)));
  const uids = new Set(current.map(({ resource }) => resource.uid));
  return old.filter(({ resource }) => !ids.has(idOf(resource)) && !(resource.uid && uids.has(resource.uid)));
}

/** `current` and whatever of `old` it does not mention. */
export const union = (
  old: readonly ManagedResource[],
  current: readonly ManagedResource[],
): readonly ManagedResource[] => [...current, ...leftOver(old, current)];

/** The list to store before an apply: what is known, and an intent for every object that may be made. */
export function intended(
  old: readonly ManagedResource[],
  placed: readonly Placed[],
): readonly ManagedResource[] {
  const known = new Map(old.map((entry) => [idOf(entry.resource), entry]));
  const current = placed
    .filter(({ policy }) => !isForeign(policy))
    .map((p) => {
      const entry = entryOf(p, '');
      const before = known.get(idOf(entry.resource));
      return { placed: p, entry: before ? entryOf(p, before.resource.uid) : entry };
    });
  return union(old, inOrder(current));
}

/** Whether an object is to be taken away when its entry leaves the list; `fallback` has to look at its label first. */
export function fateOf({ policy }: ManagedResource): 'delete' | 'deleteIfOwned' | 'leave' {
  if (policy === 'keep' || policy === 'ignore') return 'leave';
  return policy === 'fallback' ? 'deleteIfOwned' : 'delete';
}
