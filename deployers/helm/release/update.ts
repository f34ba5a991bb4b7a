/** Brings the objects of a release from one revision to the next. */
import { knownApiVersions } from '../../../src/templating/helm/capabilities.ts';
import type { Fields } from '../../../src/lib/objects.ts';
import type { Kind, Obj, Write } from '../../../src/runtime/types.ts';
import type { KubeObject } from '../../objects/manifests/model.ts';
import { hasAllOf } from '../stored.ts';
import { because, ReleaseError, said, type ReleaseTarget } from './cluster.ts';
import { rulesOfKind } from './merge-keys.ts';
import { isKeptOnCluster } from './ownership.ts';
import { createOne, deleteOne, described, findSame, readLive, type Resource } from './resources.ts';
import { changedFields, jsonPatch, strategicPatch } from './three-way.ts';

interface UpdateOptions {
  /** Replaces objects instead of patching them. */
  readonly force: boolean;
  /** Whether custom resources are compared with the cluster as well. */
  readonly repairsCustom?: boolean;
}

/** The update failed; `created` are the objects that it had created. */
export class UpdateFailed extends ReleaseError {
  readonly created: readonly Resource[];

  constructor(message: string, created: readonly Resource[], options?: ErrorOptions) {
    super(message, options);
    this.created = created;
  }
}

/**
 * Creates, changes and deletes objects; objects that cannot be deleted stay.
 * @returns the created ones
 * @throws UpdateFailed
 */
export async function update(
  before: readonly Resource[],
  wanted: readonly Resource[],
  target: ReleaseTarget,
  options: UpdateOptions,
): Promise<readonly Resource[]> {
  const created: Resource[] = [];
  const failures: Refused[] = [];
  for (const resource of wanted) {
    try {
      if ((await updateOne(before, resource, target, options)) === 'created') created.push(resource);
    } catch (error) {
      target.signal.throwIfAborted();
      if (error instanceof Refused) failures.push(error);
      else {
        const made = error instanceof NotCreated ? [...created, resource] : created;
        throw new UpdateFailed(said(error), made, { cause: error });
      }
    }
  }
  if (failures.length > 0) {
    const message = failures.map((failure) => failure.message).join(' && ');
    throw new UpdateFailed(message, created, { cause: new AggregateError(failures) });
  }
  for (const resource of before) {
    if (!findSame(wanted, resource)) await deleteGone(resource, target);
  }
  return created;
}

/** The change of one object failed; the others are still changed. */
class Refused extends ReleaseError {}
class NotCreated extends ReleaseError {}

async function updateOne(
  before: readonly Resource[],
  resource: Resource,
  target: ReleaseTarget,
  options: UpdateOptions,
): Promise<'created' | 'kept'> {
  const live = await readLive(resource, target).catch((error: unknown) => {
    throw because('could not get information about the resource', error, target);
  });
  if (live === undefined) {
    await createOne(resource, target).catch((error: unknown) => {
      target.signal.throwIfAborted();
      throw new NotCreated(`failed to create resource: ${said(error)}`, { cause: error });
    });
    return 'created';
  }
  const { kind } = resource.kind;
  const old = findSame(before, resource);
  if (!old) throw new ReleaseError(`no ${kind} with the name "${resource.name}" found`);
  const write = options.force ? replacement(resource, live) : patchOf(old, live, resource, options);
  if (!write) return 'kept';
  try {
    const changed = await target.access.client.send(write, target.signal);
    if (write.verb === 'strategic') await verify(changed, resource, target);
  } catch (error) {
    target.signal.throwIfAborted();
    const what = options.force
      ? 'failed to replace object'
      : `cannot patch "${resource.name}" with kind ${kind}`;
    throw new Refused(`${what}: ${said(error)}`, { cause: error });
  }
  return 'kept';
}

/**
 * Repairs an object that differs from the chart after it was patched, because the server merged other elements of a list
 * than the patch meant, and reports one that a controller or webhook keeps changing.
 */
async function verify(changed: Obj, resource: Resource, target: ReleaseTarget): Promise<void> {
  if (hasAllOf(changed, resource.object)) return;
  const repair = patchOf(resource, changed, resource, { force: false });
  const repaired = repair && (await target.access.client.send(repair, target.signal));
  if (repaired && hasAllOf(repaired, resource.object)) return;
  const problem = new ReleaseError(`${described(resource)} differs from the chart after it was patched`);
  target.warn('patched object differs from the chart', problem);
}

const replacement = ({ kind, object }: Resource, live: Obj): Write => {
  const resourceVersion = object.metadata.resourceVersion ?? live.metadata.resourceVersion;
  return {
    verb: 'replace',
    kind,
    object: { ...object, metadata: { ...object.metadata, ...(resourceVersion && { resourceVersion }) } },
  };
};

/** Helm's client knows the types of these kinds; all others are custom resources to it. */
const TYPED: ReadonlySet<string> = new Set(
  knownApiVersions.filter((version) => version !== 'apiextensions.k8s.io/v1beta1'),
);

function patchOf(old: Resource, live: Obj, resource: Resource, options: UpdateOptions): Write | undefined {
  const { kind, key } = resource;
  const states = { before: fieldsOf(old.object), live: fieldsOf(live), wanted: fieldsOf(resource.object) };
  const isTyped = TYPED.has(resource.object.apiVersion);
  const body = isTyped
    ? strategicPatch(states, rulesOfKind(resource.object))
    : options.repairsCustom
      ? jsonPatch(states)
      : changedFields(states.before, states.wanted);
  if (Object.keys(body).length === 0) return undefined;
  return { verb: isTyped ? 'strategic' : 'merge', kind, key, body };
}

/** The write that gives a live object the fields of the chart; undefined if it has them. */
export function repairOf(object: KubeObject, live: Obj, kind: Kind<Obj>): Write | undefined {
  const { namespace: _, ...metadata } = object.metadata;
  const wanted = { ...object, metadata } as KubeObject;
  const { name, namespace = '' } = live.metadata;
  const key = namespace === '' ? name : `${namespace}/${name}`;
  const resource: Resource = { object: wanted, kind, namespace, name, key };
  return patchOf(resource, live, resource, { force: false, repairsCustom: true });
}

const fieldsOf = (object: Obj): Fields => object as unknown as Fields;

/** An object that left the chart. An error does not fail the action, as in Helm. */
async function deleteGone(resource: Resource, target: ReleaseTarget): Promise<void> {
  try {
    const live = await readLive(resource, target);
    if (live && !isKeptOnCluster(live)) await deleteOne(resource, target);
  } catch (error) {
    target.signal.throwIfAborted();
    target.warn('object that left the chart cannot be deleted', error);
  }
}
