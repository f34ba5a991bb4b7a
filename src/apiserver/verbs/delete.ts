/** Deletion: finalizers, propagation, grace, and collections. */
import { timestamp } from '../../lib/clock.ts';
import type { Admission, Answer, Call, World } from '../api.ts';
import { decodeBody } from '../http/body.ts';
import { markTerminating } from '../crd/conditions.ts';
import { CRDS } from '../crd/kinds.ts';
import type { Kind } from '../kinds/kinds.ts';
import { deleteOptions, listOptions } from '../http/options.ts';
import type { DeleteOptions } from '../http/options.ts';
import { selection } from './read.ts';
import { ApiError, deleted, forbidden, notFound, plainFailure, preconditionFailed } from '../status.ts';
import type { Entry } from '../store/storage.ts';
import { CLEANUP_FINALIZER } from '../crd/strategy.ts';
import { cloneJson, isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { convertViews, keepView, ordered, storeKey, toStorage, viewOf } from '../store/view.ts';

interface Deleter {
  readonly world: World;
  readonly call: Call;
  readonly kind: Kind;
  readonly admission: Admission;
}

const PROTECTED_NAMESPACES: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

export async function deleteObject(deleter: Deleter): Promise<Answer> {
  const { call, kind } = deleter;
  const options = readOptions(call);
  if (kind.resource === '/namespaces' && PROTECTED_NAMESPACES.has(call.info.name))
    throw forbidden(kind, call.info.name, 'this namespace may not be deleted');
  return removeOne(deleter, call.info.namespace, call.info.name, options);
}

export async function deleteCollection(deleter: Deleter): Promise<Answer> {
  const { world, call, kind } = deleter;
  const options = readOptions(call);
  const wanted = listOptions(call.query, false);
  const matches = selection(kind, wanted);
  const prefix = kind.namespaced && call.info.namespace !== '' ? `${call.info.namespace}/` : '';
  const all = world.store.resource(kind.resource).list(prefix);
  await convertViews(all, kind);
  let entries = all.filter((entry) => !matches || matches(viewOf(entry, kind)));
  if (wanted.limit > 0) entries = entries.slice(0, wanted.limit);
  const rev = world.store.rev;
  for (const entry of entries) {
    const { namespace, name } = entry.obj.metadata;
    try {
      await removeOne(deleter, namespace ?? '', name, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error;
    }
  }
  return { type: 'list', kind, entries, rev };
}

/** @throws ApiError 500 for an invalid JSON body, as upstream */
function readOptions(call: Call): DeleteOptions {
  if (call.body.length === 0) return deleteOptions(undefined, call.query);
  let body: unknown;
  try {
    body = decodeBody(call, 'DeleteOptions', false).value;
  } catch (error) {
    if (error instanceof ApiError && error.code === 400)
      throw plainFailure(error.message.replace(/^the object provided is unrecognized \(.*?\): /, ''));
    throw error;
  }
  return deleteOptions(isObject(body) ? body : undefined, call.query);
}

async function removeOne(
  deleter: Deleter,
  namespace: string,
  name: string,
  options: DeleteOptions,
): Promise<Answer> {
  const { world, call, kind, admission } = deleter;
  const key = storeKey(kind, namespace, name);
  const find = (): Entry => {
    const entry = world.store.get(kind.resource, key);
    if (!entry) throw notFound(kind, name);
    checkPreconditions(kind, entry, options);
    return entry;
  };
  let entry = await foundAndConverted(find, kind);
  if (admission.active) {
    for (const phase of ['mutating', 'validating'] as const)
      await admission.admit({
        phase,
        operation: 'DELETE',
        kind,
        subresource: '',
        name: call.info.name,
        namespace,
        object: undefined,
        oldObject: viewOf(entry, kind),
        user: call.user,
        dryRun: options.dryRun,
        options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
        warnings: call.warnings,
      });
    entry = await foundAndConverted(find, kind);
  }
  return mark(deleter, entry, options);
}

/** @throws errors of `find` */
async function foundAndConverted(find: () => Entry, kind: Kind): Promise<Entry> {
  for (;;) {
    const entry = find();
    const converting = convertViews([entry], kind);
    if (!converting) return entry;
    await converting;
  }
}

/** The stored form; a deletion changes only metadata that webhooks do not convert. */
function storedForm(next: KubeObject, { obj }: Entry, kind: Kind): KubeObject {
  if (!kind.webhook) return toStorage(next, kind);
  const { labels: _labels, annotations: _annotations, ...rest } = next.metadata;
  const { labels, annotations } = obj.metadata;
  return { ...obj, metadata: { ...rest, ...(labels && { labels }), ...(annotations && { annotations }) } };
}

function checkPreconditions(kind: Kind, entry: Entry, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion, name } = entry.obj.metadata;
  if (preconditions.uid != null && preconditions.uid !== uid)
    throw preconditionFailed(
      kind,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid ?? ''}). The object might have been deleted and then recreated`,
    );
  if (preconditions.resourceVersion != null && preconditions.resourceVersion !== resourceVersion)
    throw preconditionFailed(
      kind,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion ?? ''}). The object might have been modified`,
    );
}

/** Removes the object, or marks it as terminating if finalizers or a grace period remain. */
function mark(deleter: Deleter, entry: Entry, options: DeleteOptions): Answer {
  const { kind } = deleter;
  const live = viewOf(entry, kind);
  const next = cloneJson(live);
  const meta = next.metadata;
  const isFirst = meta.deletionTimestamp === undefined;
  const finalizers = wantedFinalizers(deleter, live, options);
  if (kind.resource === CRDS && isFirst) finalizers.push(CLEANUP_FINALIZER);
  if (finalizers.length > 0) meta.finalizers = finalizers;
  else delete meta.finalizers;

  const grace = gracePeriod(kind, live, options);
  const isHeld = finalizers.length > 0 || grace > 0 || holdsItself(kind, live);
  return isHeld ? terminate(deleter, entry, next, grace, options) : remove(deleter, entry, next, options);
}

function remove({ world, kind }: Deleter, entry: Entry, next: KubeObject, options: DeleteOptions): Answer {
  const live = viewOf(entry, kind);
  const { name, uid, deletionTimestamp, deletionGracePeriodSeconds } = live.metadata;
  if (!options.dryRun) {
    // A pod with a grace period is first updated to one of zero, then removed.
    if (kind.resource === '/pods' && deletionTimestamp !== undefined && deletionGracePeriodSeconds !== 0) {
      next.metadata.deletionGracePeriodSeconds = 0;
      world.store.commit(kind.resource, entry.key, entry.rev, ordered(toStorage(next, kind)));
    }
    world.store.commit(kind.resource, entry.key, undefined, undefined);
  }
  return kind.returnsDeleted
    ? { type: 'object', code: 200, kind, object: live, entry }
    : { type: 'status', code: 200, body: deleted(kind, name, uid) };
}

function terminate(
  { world, kind }: Deleter,
  entry: Entry,
  next: KubeObject,
  grace: number,
  options: DeleteOptions,
): Answer {
  const live = viewOf(entry, kind);
  const meta = next.metadata;
  const deadline = `${new Date(world.clock.wall() + grace * 1000).toISOString().slice(0, 19)}Z`;
  if (meta.deletionTimestamp === undefined) {
    meta.deletionTimestamp = deadline;
    if (kind.resource !== '/namespaces') meta.deletionGracePeriodSeconds = grace;
    if (kind.generation) meta.generation = (meta.generation ?? 0) + 1;
    markStatus(kind, next, timestamp(world.clock));
  } else if (kind.resource === '/pods' && grace < (meta.deletionGracePeriodSeconds ?? 0)) {
    meta.deletionTimestamp = deadline;
    meta.deletionGracePeriodSeconds = grace;
  } else if (sameFinalizers(meta.finalizers ?? [], live.metadata.finalizers))
    return { type: 'object', code: 200, kind, object: live, entry };
  if (options.dryRun) return { type: 'object', code: 200, kind, object: next };
  const form = ordered(storedForm(next, entry, kind));
  const now = world.store.commit(kind.resource, entry.key, entry.rev, form).next as Entry;
  const { resourceVersion = '' } = now.obj.metadata;
  if (kind.webhook) keepView(now, kind, { ...next, metadata: { ...next.metadata, resourceVersion } });
  return { type: 'object', code: 200, kind, object: viewOf(now, kind), entry: now };
}

function wantedFinalizers({ call, kind }: Deleter, live: KubeObject, options: DeleteOptions): string[] {
  const present = live.metadata.finalizers ?? [];
  const others = present.filter((f) => f !== 'orphan' && f !== 'foregroundDeletion');
  if (kind.defaultPolicy === 'None') return others;
  let policy = options.propagationPolicy;
  if (policy === undefined) {
    if (present.includes('orphan')) policy = 'Orphan';
    else if (present.includes('foregroundDeletion')) policy = 'Foreground';
    else {
      policy = kind.defaultPolicy === 'Orphan' ? 'Orphan' : 'Background';
      if (kind.resource === 'batch/jobs')
        call.warnings.push(
          'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
        );
    }
  }
  if (policy === 'Foreground') return withFinalizer(present, others, 'foregroundDeletion');
  if (policy === 'Orphan') return withFinalizer(present, others, 'orphan');
  return others;
}

const withFinalizer = (present: readonly string[], others: string[], finalizer: string): string[] =>
  present.includes(finalizer)
    ? present.filter((f) => others.includes(f) || f === finalizer)
    : [...others, finalizer];

const sameFinalizers = (a: readonly string[], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((f, i) => f === b[i]);

/** Grace period of a pod in seconds; 0 for all other kinds. */
function gracePeriod(kind: Kind, live: KubeObject, options: DeleteOptions): number {
  if (kind.resource !== '/pods') return 0;
  const spec = live['spec'] as { nodeName?: string; terminationGracePeriodSeconds?: number } | undefined;
  const phase = (live['status'] as { phase?: string } | undefined)?.phase;
  if (!spec?.nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
  const asked = options.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30;
  const running = live.metadata.deletionGracePeriodSeconds;
  return running === undefined ? asked : Math.min(asked, running);
}

/** Namespaces have their own finalizers in the spec. */
function holdsItself(kind: Kind, live: KubeObject): boolean {
  if (kind.resource !== '/namespaces') return false;
  return ((live['spec'] as { finalizers?: string[] } | undefined)?.finalizers?.length ?? 0) > 0;
}

function markStatus(kind: Kind, object: KubeObject, now: string): void {
  if (kind.resource === CRDS) markTerminating(object, now);
  if (kind.resource === '/namespaces')
    object['status'] = { ...(object['status'] as JsonObject), phase: 'Terminating' };
}
