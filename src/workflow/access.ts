/**
 * How dependents write to a cluster. Writes are guarded, so they never overwrite a concurrent change of another
 * client.
 */
import { copy } from '../lib/json.ts';
import { CREATE_ONLY } from '../runtime/controller/optimistic-lock.ts';
import { AlreadyExists, Conflict, NotFound } from '../runtime/errors.ts';
import { keyOf } from '../runtime/keys.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client, Context, Key, Kind, Obj, View, Writer } from '../runtime/types.ts';
import { replacement, type ReplaceOptions } from './replace.ts';

/** One cluster, for dependents. */
interface ClusterAccess {
  readonly live: Pick<Client, 'get' | 'list'>;
  readonly write: Writer;
}

/** The controller's own cluster, or another one, whose writes are not reported to caches. */
export function accessTo<P extends Obj>(ctx: Context<P>, client: Client | undefined): ClusterAccess {
  if (!client) return ctx;
  return { live: client, write: (write, signal) => client.send(write, signal ?? ctx.signal) };
}

/** How the desired object is sent: `apply` as an intent, `replace` instead of the existing object. */
export type Strategy = 'apply' | 'replace';

export interface SendOptions<R extends Obj> extends ReplaceOptions {
  readonly kind: Kind<R>;
  readonly strategy: Strategy;
  readonly manager: string;
  readonly access: ClusterAccess;
  readonly signal: AbortSignal;
}

/** @throws Conflict or AlreadyExists when an object of this name exists */
export async function sendCreate<R extends Obj>(desired: R, how: SendOptions<R>): Promise<R> {
  const { kind, access, signal } = how;
  if (how.strategy === 'apply') return sendApply(desired, { resourceVersion: CREATE_ONLY }, how);
  return access.write({ verb: 'create', kind, object: desired }, signal);
}

/** @throws Conflict when the object has changed, or was deleted, since `actual` */
export async function sendUpdate<R extends Obj>(
  actual: View<R>,
  desired: R,
  how: SendOptions<R>,
): Promise<R> {
  const { kind, access, signal } = how;
  if (how.strategy === 'replace')
    return access.write({ verb: 'replace', kind, object: replacement(actual, desired, how) }, signal);
  const { uid, resourceVersion } = actual.metadata;
  return sendApply(desired, { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }, how);
}

const sendApply = <R extends Obj>(
  desired: R,
  identity: { readonly uid?: string; readonly resourceVersion?: string },
  { kind, manager, access, signal }: SendOptions<R>,
): Promise<R> => {
  const object = copy(desired);
  delete object.metadata.managedFields;
  Object.assign(object.metadata, identity);
  return access.write({ verb: 'apply', kind, object, manager, force: true }, signal);
};

/** @returns whether there was an object to delete */
export async function sendDelete<R extends Obj>(
  actual: View<R>,
  { kind, access, signal }: Pick<SendOptions<R>, 'kind' | 'access' | 'signal'>,
): Promise<boolean> {
  const { uid } = actual.metadata;
  try {
    await access.write(
      { verb: 'delete', kind, key: keyOf(actual), propagation: 'Background', ...(uid && { uid }) },
      signal,
    );
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    if (!(error instanceof Conflict) || uid === undefined) throw error;
    // A new object of the same name must not be deleted.
    const live = await readLive(kind, keyOf(actual), { access, signal });
    if (live?.metadata.uid === uid) throw error;
    return false;
  }
}

export const readLive = <R extends Obj>(
  kind: Kind<R>,
  key: Key,
  { access, signal }: Pick<SendOptions<R>, 'access' | 'signal'>,
): Promise<View<R> | undefined> => getIfThere(access.live, kind, key, signal) as Promise<View<R> | undefined>;

export const isConflict = (error: unknown): boolean =>
  error instanceof Conflict || error instanceof AlreadyExists;
