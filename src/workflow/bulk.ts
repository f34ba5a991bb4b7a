/**
 * The procedure for bulk dependents: unwanted objects are deleted first, then each of the others is created or
 * updated.
 */
import type { Context, Obj, View } from '../runtime/types.ts';
import {
  createOrUpdate,
  dependentError,
  noop,
  oncePerReconcile,
  present,
  type Bulk,
  type Done,
} from './dependent.ts';

/**
 * Reconciles all objects of a bulk dependent. A failure does not stop the others.
 * @returns `updated` or `created` if any object was, with all of them in `parts`
 * @throws the first failure in the order of ids, after all were tried; if deletions fail, nothing is created or
 * updated
 */
export async function reconcileBulk<R, P extends Obj>(
  bulk: Bulk<R, P>,
  p: View<P>,
  ctx: Context<P>,
): Promise<Done<R>> {
  const actual = await bulk.actualAll(p, ctx);
  if (!bulk.desiredAll) return summed(new Map([...actual].map(([id, value]) => [id, noop(value)])));
  const desired = await oncePerReconcile(ctx, bulk, () => bulk.desiredAll?.(p, ctx));
  if (!desired) {
    throw dependentError(
      bulk,
      p,
      ctx,
      `"desiredAll" returned ${String(desired)}; return an empty map for none`,
    );
  }
  const extra = [...actual].filter(([id]) => !desired.has(id));
  await deleteEach(bulk, extra, p, ctx);
  const parts = new Map<string, Done<R>>();
  const outcomes = await Promise.allSettled(
    [...desired].map(async ([id, value]) => {
      const wanted = present(value as R | undefined | null, 'desired', bulk, p, ctx);
      return [
        id,
        await createOrUpdate(bulk, { id, actual: actual.get(id), desired: wanted }, p, ctx),
      ] as const;
    }),
  );
  for (const [id, done] of all(outcomes)) parts.set(id, done);
  return summed(parts);
}

/** Deletes all objects, if the dependent can delete. @throws the first failure, after all were tried */
export async function deleteBulk<R, P extends Obj>(
  bulk: Bulk<R, P>,
  p: View<P>,
  ctx: Context<P>,
): Promise<void> {
  if (bulk.deleteOne) await deleteEach(bulk, [...(await bulk.actualAll(p, ctx))], p, ctx);
}

async function deleteEach<R, P extends Obj>(
  bulk: Bulk<R, P>,
  items: readonly (readonly [string, View<R>])[],
  p: View<P>,
  ctx: Context<P>,
): Promise<void> {
  all(await Promise.allSettled(items.map(async ([id, actual]) => bulk.deleteOne?.(id, actual, p, ctx))));
}

function all<T>(outcomes: readonly PromiseSettledResult<T>[]): T[] {
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

function summed<R>(parts: ReadonlyMap<string, Done<R>>): Done<R> {
  const did = new Set([...parts.values()].map((part) => part.did));
  return { did: did.has('updated') ? 'updated' : did.has('created') ? 'created' : 'noop', parts };
}
