/** Applies one object to a cluster: creates it, or updates the existing one according to policy and strategy. */
import type { Clock } from '../../../src/lib/clock.ts';
import { copy } from '../../../src/lib/json.ts';
import type { Mask } from '../../../src/lib/masking.ts';
import { AlreadyExists, ApiError, Conflict, Forbidden, Invalid } from '../../../src/runtime/errors.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import { entryOf, isIntent } from './inventory.ts';
import { isOwned, type Ownership } from './label.ts';
import {
  describeRef,
  keyOfRef,
  NO_NAME,
  refOf,
  type KubeObject,
  type ManagedResource,
  type Strategy,
} from './model.ts';
import type { ResolvedManifest } from './order.ts';
import { desired, isUnchanged, withoutServerOwned } from './strategy.ts';

export interface ApplyPorts {
  readonly access: KubeAccess;
  readonly ownership: Ownership;
  readonly strategy: Strategy;
  /** For messages. */
  readonly targetName: string;
  /** Field manager for server-side apply. */
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Masks values of the manifests' secrets in responses of clusters. */
  readonly mask: Mask;
  warn(reason: string, note: string): void;
}

/** The result of one manifest. */
export interface Applied {
  readonly manifest: ResolvedManifest;
  /** Absent if the object does not belong to the item. */
  readonly entry?: ManagedResource;
  /** As the cluster returned it. */
  readonly live?: KubeObject;
  readonly isTouched: boolean;
}

/** The manifest is invalid on any cluster. */
class InvalidManifest extends Error {
  override readonly name = 'BadManifest';
}

/**
 * @param known the inventory entry of the object
 * @throws BadManifest, or the errors of the client
 */
export async function applyOne(
  p: ResolvedManifest,
  known: ManagedResource | undefined,
  ports: ApplyPorts,
): Promise<Applied> {
  if (p.policy === 'ignore') return { manifest: p, isTouched: false };
  check(p);
  if (p.policy === 'ensure') return ensure(p, ports);
  const wanted = labelled(p.object, ports.ownership);
  if (ports.strategy === 'apply' && canApplyUnread(p))
    return touched(p, await serverSideApply(p.kind, wanted, ports));
  const isKnown = known !== undefined && known.resource.uid !== '';
  if (isKnown) return applyKnown(p, wanted, ports);
  try {
    return touched(p, await create(p, wanted, ports));
  } catch (error) {
    // The create request may be refused although an update is possible: the manifest is incomplete, or the right to
    // create is missing.
    if (!(error instanceof AlreadyExists || error instanceof Invalid || error instanceof Forbidden))
      throw error;
    const current = await read(p, ports).catch((unreadable: unknown) => {
      // If neither create nor get is permitted, the error of the create is reported, because the user has to grant
      // that right first.
      throw unreadable instanceof ApiError && !(error instanceof AlreadyExists) ? error : unreadable;
    });
    if (!current) throw error;
    return updateExisting(
      p,
      current,
      wasCreatedByThisJob(known, current, ports) ? withCreationAnnotations(p, wanted) : wanted,
      ports,
    );
  }
}

/** Without our label, because the item does not own the object. */
async function ensure(p: ResolvedManifest, ports: ApplyPorts): Promise<Applied> {
  try {
    return { manifest: p, live: await create(p, withoutServerOwned(p.object), ports), isTouched: true };
  } catch (error) {
    if (error instanceof AlreadyExists) return { manifest: p, isTouched: false };
    throw error;
  }
}

/** Whether this job created the object but crashed before it recorded the uid; it then still counts as new. */
const wasCreatedByThisJob = (
  known: ManagedResource | undefined,
  current: KubeObject,
  { ownership }: ApplyPorts,
): boolean => known !== undefined && isIntent(known) && isOwned(ownership, current);

async function applyKnown(p: ResolvedManifest, wanted: KubeObject, ports: ApplyPorts): Promise<Applied> {
  const current = await read(p, ports);
  return current ? updateExisting(p, current, wanted, ports) : touched(p, await create(p, wanted, ports));
}

const CONFLICTS = 3;

/** The object exists: applies the policy, then the strategy. */
async function updateExisting(
  p: ResolvedManifest,
  current: KubeObject,
  wanted: KubeObject,
  ports: ApplyPorts,
): Promise<Applied> {
  const isOurs = isOwned(ports.ownership, current);
  if (p.policy === 'fallback' && !isOurs) return { manifest: p, live: current, isTouched: false };
  if (p.policy === 'immutable') {
    if (!isOurs) warnOfForeign(p, ports);
    return { manifest: p, entry: entryOf(p, current.metadata.uid), live: current, isTouched: false };
  }
  if (ports.strategy === 'apply') return touched(p, await serverSideApply(p.kind, wanted, ports));
  let base = current;
  for (let attempt = 1; ; attempt++) {
    const next = desired(base, wanted, ports.strategy, ports.ownership.labels);
    if (isUnchanged(base, next)) return touched(p, base);
    try {
      const written = await ports.access.client.send(
        { verb: 'replace', kind: p.kind, object: next },
        ports.signal,
      );
      return touched(p, written as KubeObject);
    } catch (error) {
      if (!(error instanceof Conflict) || attempt >= CONFLICTS) throw error;
      const fresh = await read(p, ports);
      if (!fresh) throw error;
      base = fresh;
    }
  }
}

const warnOfForeign = ({ object }: ResolvedManifest, ports: ApplyPorts): void => {
  ports.warn(
    'ForeignObject',
    `${describeRef(refOf(object))} was not created by this item; with policy immutable it is not changed, but it is deleted with the item`,
  );
};

/**
 * Whether the object can be applied without reading it first; its policy or its annotations for new objects may
 * require that.
 */
const canApplyUnread = ({ policy, annotateBeforeCreate }: ResolvedManifest): boolean =>
  (policy === 'manage' || policy === 'keep') && !annotateBeforeCreate;

const serverSideApply = async (kind: Kind<Obj>, wanted: KubeObject, ports: ApplyPorts): Promise<KubeObject> =>
  (await ports.access.client.send(
    { verb: 'apply', kind, object: wanted, manager: ports.fieldManager, force: true },
    ports.signal,
  )) as KubeObject;

const create = async (p: ResolvedManifest, wanted: KubeObject, ports: ApplyPorts): Promise<KubeObject> =>
  (await ports.access.client.send(
    { verb: 'create', kind: p.kind, object: withCreationAnnotations(p, wanted) },
    ports.signal,
  )) as KubeObject;

/** The object with the annotations for its creation. */
function withCreationAnnotations(
  { annotateBeforeCreate: notes }: ResolvedManifest,
  wanted: KubeObject,
): KubeObject {
  if (!notes) return wanted;
  const annotations = { ...wanted.metadata.annotations, ...notes };
  return { ...wanted, metadata: { ...wanted.metadata, annotations } };
}

const read = (
  { kind, object }: ResolvedManifest,
  { access, signal }: ApplyPorts,
): Promise<KubeObject | undefined> =>
  getIfThere(access.client, kind as Kind<KubeObject>, keyOfRef(refOf(object)), signal);

const touched = (p: ResolvedManifest, live: KubeObject): Applied => ({
  manifest: p,
  entry: entryOf(p, live.metadata.uid),
  live,
  isTouched: true,
});

export function labelled(object: KubeObject, { labels }: Ownership): KubeObject {
  const wanted = copy(withoutServerOwned(object));
  return { ...wanted, metadata: { ...wanted.metadata, labels: { ...wanted.metadata.labels, ...labels } } };
}

function check({ object, kind }: ResolvedManifest): void {
  const { name, namespace } = object.metadata;
  if (typeof name !== 'string' || name === '') throw new InvalidManifest(NO_NAME);
  if (name.includes('/')) throw new InvalidManifest('metadata.name must not contain a slash');
  if (kind.namespaced && !namespace)
    throw new InvalidManifest('the manifest has no namespace, and there is no default namespace');
}
