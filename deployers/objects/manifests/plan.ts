/** Plans the changes of applying or removing manifests: takes the same decisions, with dry-run requests. */
import { itemKey } from '../../../src/api/managed-objects.ts';
import { equal } from '../../../src/lib/json.ts';
import type { Fields } from '../../../src/lib/objects.ts';
import { NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Kind } from '../../../src/runtime/types.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import type { DeployContext } from '../../sdk/deployer.ts';
import { messageOf } from '../../sdk/errors.ts';
import type { ItemPlan, PlannedObject } from '../../sdk/item-plan.ts';
import { withoutWrites } from '../../sdk/plan.ts';
import { resolveKind } from './apply.ts';
import { candidates } from './delete.ts';
import { applyPorts, expand, type DeployPlan } from './deploy.ts';
import { assignToGroups, type DeletionGroup } from './groups.ts';
import { entryOf, removalFor, isIntent, entriesMissingIn } from './inventory.ts';
import { isOwned, type Ownership } from './label.ts';
import {
  CRD_KIND,
  describeRef,
  idOf,
  isForeign,
  keyOfRef,
  refOf,
  type KubeObject,
  type ManagedResource,
  type Manifest,
} from './model.ts';
import { applyOne, labelled, type Applied, type ApplyPorts } from './object.ts';
import { inParallel } from './parallel.ts';
import { accessOf, type RemovalPlan } from './remove.ts';
import type { ResolvedManifest } from './order.ts';
import { restored } from './restored.ts';
import { deepMerge } from './strategy.ts';

type Wanted = Pick<
  DeployPlan<unknown>,
  'operation' | 'fieldManager' | 'manifests' | 'strategy' | 'ownership' | 'old' | 'groups'
>;

export async function planDeploy(ctx: DeployContext, wanted: Wanted): Promise<ItemPlan> {
  const access = withoutWrites(await accessOf(ctx.target, wanted.operation));
  const manifests = expand(wanted);
  const notes: string[] = [];
  const ports: ApplyPorts = {
    ...applyPorts(ctx, wanted, access, manifests),
    warn: (_reason, note) => {
      notes.push(note);
    },
  };
  const known = new Map(wanted.old.map((entry) => [idOf(entry.resource), entry]));
  const crds = manifests.map(({ object }) => object).filter(({ kind }) => kind === CRD_KIND);
  const found = await inParallel(manifests, async (manifest) => {
    try {
      const resolved = await resolveKind(manifest, crds, access, ports.targetName);
      return await planOne(resolved, known.get(idOf(refOf(resolved.object))), ports);
    } catch (error) {
      if (ctx.signal.aborted) throw error;
      return { planned: kindMissing(manifest, error), entry: entryFor(manifest, known), uid: undefined };
    }
  });
  const current = found.flatMap(({ entry }) => (entry ? [entry] : []));
  const released = new Set(
    manifests.filter(({ policy }) => isForeign(policy)).map(({ object }) => idOf(refOf(object))),
  );
  const orphans = entriesMissingIn(wanted.old, current).filter(
    ({ resource }) => !released.has(idOf(resource)),
  );
  const gone = await planDeletions(orphans, { ...ctx, ...wanted, access });
  const objects = [...found.map(({ planned }) => planned), ...gone];
  return {
    objects,
    notes: [...notes, ...found.flatMap(({ uid, planned }) => sharedNote(ctx, uid, planned))],
  };
}

export async function planRemoval(ctx: DeployContext, plan: RemovalPlan): Promise<ItemPlan> {
  if (plan.old.length === 0) return { objects: [], notes: [] };
  const access = withoutWrites(await accessOf(ctx.target, plan.operation));
  const managed = await planDeletions(plan.old, { ...ctx, ...plan, access });
  const { here, elsewhere } = await everything(plan.groups, ctx, access);
  // A group that takes everything takes what the others leave, too.
  const objects = managed.map((planned) =>
    planned.change === 'kept' ? (here.get(idOf(planned.ref)) ?? planned) : planned,
  );
  for (const { ref } of managed) here.delete(idOf(ref));
  return { objects: [...objects, ...here.values(), ...elsewhere], notes: [] };
}

// ---------------------------------------------------------------- one object of the list

/** Names the other deploy items that manage the object; undefined uid: the object does not exist yet. */
function sharedNote(
  { alsoManagedBy }: Pick<DeployContext, 'alsoManagedBy'>,
  uid: string | undefined,
  { ref }: PlannedObject,
): readonly string[] {
  const others = uid === undefined ? [] : alsoManagedBy(uid);
  if (others.length === 0) return [];
  return [`${describeRef(ref)} is also managed by other deploy items: ${others.map(itemKey).join(', ')}`];
}

interface Found {
  /** Uid of the existing object. */
  readonly uid: string | undefined;
  readonly planned: PlannedObject;
  /** The entry for the inventory. */
  readonly entry: ManagedResource | undefined;
}

/** @param known the entry of the last job */
async function planOne(
  p: ResolvedManifest,
  known: ManagedResource | undefined,
  ports: ApplyPorts,
): Promise<Found> {
  const ref = refOf(p.object);
  const before = await getIfThere(
    ports.access.client,
    p.kind as Kind<KubeObject>,
    keyOfRef(ref),
    ports.signal,
  );
  let applied: Applied;
  try {
    applied = await applyOne(p, known, ports);
  } catch (error) {
    if (ports.signal.aborted) throw error;
    const entry = entryOf(p, known?.resource.uid ?? '');
    const after = labelled(p.object, ports.ownership);
    // The namespace or the CRD may be part of the same job; a dry run cannot check that.
    if (!before && error instanceof NotFound) {
      const note = `not checked by the cluster: its ${placeOf(p)} does not exist there yet`;
      return { planned: { ref, change: 'create', after, note }, entry, uid: undefined };
    }
    const problem = messageOf(error);
    const planned = { ref, change: before ? 'change' : 'create', before, after, problem } as const;
    return { planned, entry, uid: before?.metadata.uid };
  }
  const uid = isForeign(p.policy) ? undefined : before?.metadata.uid;
  return { planned: plannedOf(applied, before), entry: applied.entry, uid };
}

const placeOf = ({ object, kind }: ResolvedManifest): string =>
  kind.namespaced ? `namespace ${object.metadata.namespace ?? ''} or its kind` : 'kind';

function plannedOf({ manifest: p, live, isTouched }: Applied, before: KubeObject | undefined): PlannedObject {
  const ref = refOf(p.object);
  if (!isTouched) return { ref, change: 'kept', note: `policy ${p.policy} does not change it` };
  const stored =
    live && p.patchAfterDeployment ? (deepMerge(live, p.patchAfterDeployment, 'from') as KubeObject) : live;
  if (!before) return { ref, change: 'create', after: stored && comparable(stored) };
  if (!stored) return { ref, change: 'change', before: comparable(before) };
  const { after: lasting, note } = restored(before, stored);
  const [old, after] = [comparable(before), comparable(lasting)];
  return { ref, change: equal(old, after) ? 'unchanged' : 'change', before: old, after, note };
}

function kindMissing(manifest: Manifest, error: unknown): PlannedObject {
  const common = { ref: refOf(manifest.object), after: manifest.object };
  const isLater = error instanceof NoSuchKind || (error as Error).cause instanceof NoSuchKind;
  return isLater
    ? { ...common, change: 'create', note: `its kind does not exist yet: ${messageOf(error)}` }
    : { ...common, change: 'create', problem: messageOf(error) };
}

const entryFor = (
  manifest: Manifest,
  known: ReadonlyMap<string, ManagedResource>,
): ManagedResource | undefined => known.get(idOf(refOf(manifest.object)));

const SERVER_OWNED: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
]);

/** The object without fields that the API server sets. */
function comparable({ status: _status, ...object }: KubeObject & Fields): KubeObject {
  const metadata = Object.fromEntries(
    Object.entries(object.metadata).filter(([field]) => !SERVER_OWNED.has(field)),
  );
  return { ...object, metadata } as unknown as KubeObject;
}

// ---------------------------------------------------------------- deletions

interface PlannedDeletions {
  readonly access: KubeAccess;
  readonly ownership: Ownership;
  readonly groups: readonly DeletionGroup[];
  readonly signal: AbortSignal;
  readonly alsoManagedBy: DeployContext['alsoManagedBy'];
}

async function planDeletions(
  entries: readonly ManagedResource[],
  candidatesForDeletion: PlannedDeletions,
): Promise<readonly PlannedObject[]> {
  const inGroups = new Set(assignToGroups(entries, candidatesForDeletion.groups).flat());
  const planned = await inParallel(entries, async (entry) => {
    const before = await liveOf(entry, candidatesForDeletion);
    if (!before) return [];
    const others = entry.resource.uid
      ? candidatesForDeletion.alsoManagedBy(entry.resource.uid).map(itemKey)
      : [];
    const reasonsToStay =
      others.length > 0
        ? `other deploy items also manage it: ${others.join(', ')}`
        : reasonToStay(entry, before, candidatesForDeletion.ownership, inGroups.has(entry));
    const ref = { ...entry.resource };
    return reasonsToStay === undefined
      ? [{ ref, change: 'delete' as const, before: comparable(before) }]
      : [{ ref, change: 'kept' as const, note: reasonsToStay }];
  });
  return planned.flat();
}

function reasonToStay(
  entry: ManagedResource,
  live: KubeObject,
  ownership: Ownership,
  isInGroup: boolean,
): string | undefined {
  const removal = removalFor(entry);
  if (removal === 'leave') return `policy ${entry.policy ?? 'keep'} keeps it`;
  const isOther = Boolean(entry.resource.uid) && entry.resource.uid !== live.metadata.uid;
  const needsLabel = removal === 'deleteIfOwned' || isIntent(entry) || isOther;
  if (needsLabel && !isOwned(ownership, live)) return 'it belongs to another owner';
  return isInGroup ? undefined : 'no deletion group contains it';
}

async function liveOf(
  { resource }: ManagedResource,
  { access, signal }: PlannedDeletions,
): Promise<KubeObject | undefined> {
  try {
    const kind = await access.kindOf(resource.apiVersion, resource.kind);
    return await getIfThere(access.client, kind as Kind<KubeObject>, keyOfRef(resource), signal);
  } catch (error) {
    if (error instanceof NoSuchKind) return undefined;
    throw error;
  }
}

interface Taken {
  /** Objects on the target of the item, by id. */
  readonly here: Map<string, PlannedObject>;
  readonly elsewhere: PlannedObject[];
}

/** Objects that deletion groups delete, whether the item manages them or not. Objects that other items manage stay. */
async function everything(
  groups: readonly DeletionGroup[],
  ctx: DeployContext,
  own: KubeAccess,
): Promise<Taken> {
  const taken: Taken = { here: new Map(), elsewhere: [] };
  for (const group of groups) {
    if (group.is !== 'custom' || !group.isEverything) continue;
    const { targetName } = group;
    const access = targetName ? withoutWrites(await (await ctx.secondaryTarget(targetName)).kube()) : own;
    for (const type of group.resources) {
      for (const { object } of await candidates(type, access, ctx.signal)) {
        const { uid } = object.metadata;
        if (uid && ctx.alsoManagedBy(uid).length > 0) continue;
        const where = targetName ? ` on target ${targetName}` : '';
        const ref = refOf({ ...object, apiVersion: type.apiVersion, kind: type.kind });
        const planned = { ref, change: 'delete', note: `deleteAllResources deletes it${where}` } as const;
        if (targetName) taken.elsewhere.push(planned);
        else taken.here.set(idOf(ref), planned);
      }
    }
  }
  return taken;
}
