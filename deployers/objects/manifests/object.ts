/** Brings one object onto a cluster: creates it, or updates the one that is there as policy and strategy say. */
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
  NAMELESS,
  refOf,
  type KubeObject,
  type ManagedResource,
  type Strategy,
} from './model.ts';
import type { Placed } from './order.ts';
import { desired, isUnchanged, withoutServerOwned } from './strategy.ts';

export interface ApplyPorts {
  readonly access: KubeAccess;
  readonly ownership: Ownership;
  readonly strategy: Strategy;
  /** For messages. */
  readonly targetName: string;
  /** Who server-side apply notes as the owner of fields. */
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  /** Takes the values of secrets among the manifests out of what clusters answer. */
  readonly mask: Mask;
  warn(reason: string, note: string): void;
}

/** What came of one manifest. */
export interface Applied {
  readonly placed: Placed;
  /** Absent when the object is none of ours. */
  readonly entry?: ManagedResource;
  /** As the cluster answered. */
  readonly live?: KubeObject;
  readonly isTouched: boolean;
}

/** The manifest asks for something that no cluster would take. */
class BadManifest extends Error {
  override readonly name = 'BadManifest';
}

/**
 * @param known what is noted of the object
 * @throws BadManifest, or what the client throws
 */
export async function applyOne(
  p: Placed,
  known: ManagedResource | undefined,
  ports: ApplyPorts,
): Promise<Applied> {
  if (p.policy === 'ignore') return { placed: p, isTouched: false };
  check(p);
  if (p.policy === 'ensure') return ensure(p, ports);
  const wanted = labelled(p.object, ports.ownership);
  if (ports.strategy === 'apply' && canApplyBlindly(p))
    return touched(p, await serverSideApply(p.kind, wanted, ports));
  const isKnown = known !== undefined && known.resource.uid !== '';
  if (isKnown) return applyKnown(p, wanted, ports);
  try {
    return touched(p, await create(p, wanted, ports));
  } catch (error) {
    // The create may be refused although an update would be taken: a partial manifest, a right that is missing.
    if (!(error instanceof AlreadyExists || error instanceof Invalid || error instanceof Forbidden))
      throw error;
    const current = await read(p, ports).catch((unreadable: unknown) => {
      // Who may neither create nor read is told of the first: that is the right to ask for.
      throw unreadable instanceof ApiError && !(error instanceof AlreadyExists) ? error : unreadable;
    });
    if (!current) throw error;
    return applyOver(p, current, isHalfMade(known, current, ports) ? withNotes(p, wanted) : wanted, ports);
  }
}

/** Without our label: whoever meets the object later is not to take it for ours. */
async function ensure(p: Placed, ports: ApplyPorts): Promise<Applied> {
  try {
    return { placed: p, live: await create(p, withoutServerOwned(p.object), ports), isTouched: true };
  } catch (error) {
    if (error instanceof AlreadyExists) return { placed: p, isTouched: false };
    throw error;
  }
}

/** Whether we made the object in this job and did not live to note it, so that it still counts as new. */
const isHalfMade = (
  known: ManagedResource | undefined,
  current: KubeObject,
  { ownership }: ApplyPorts,
): boolean => known !== undefined && isIntent(known) && isOwned(ownership, current);

async function applyKnown(p: Placed, wanted: KubeObject, ports: ApplyPorts): Promise<Applied> {
  const current = await read(p, ports);
  return current ? applyOver(p, current, wanted, ports) : touched(p, await create(p, wanted, ports));
}

const CONFLICTS = 3;

/** The object exists; policy first, then the strategy. */
async function applyOver(
  p: Placed,
  current: KubeObject,
  wanted: KubeObject,
  ports: ApplyPorts,
): Promise<Applied> {
  const isOurs = isOwned(ports.ownership, current);
  if (p.policy === 'fallback' && !isOurs) return { placed: p, live: current, isTouched: false };
  if (p.policy === 'immutable') {
    if (!isOurs) warnOfForeign(p, ports);
    return { placed: p, entry: entryOf(p, current.metadata.uid), live: current, isTouched: false };
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

const warnOfForeign = ({ object }: Placed, ports: ApplyPorts): void => {
  ports.warn(
    'ForeignObject',
    `${describeRef(refOf(object))} was not created by this item; with policy immutable it is not changed, but it is deleted with the item`,
  );
};

/** Blind means: without a look at what is there, which the policy or a note for new objects would need. */
const canApplyBlindly = ({ policy, annotateBeforeCreate }: Placed): boolean =>
  (policy === 'manage' || policy === 'keep') && !annotateBeforeCreate;

const serverSideApply = async (kind: Kind<Obj>, wanted: KubeObject, ports: ApplyPorts): Promise<KubeObject> =>
  (await ports.access.client.send(
    { verb: 'apply', kind, object: wanted, manager: ports.fieldManager, force: true },
    ports.signal,
  )) as KubeObject;

const create = async (p: Placed, wanted: KubeObject, ports: ApplyPorts): Promise<KubeObject> =>
  (await ports.access.client.send(
    { verb: 'create', kind: p.kind, object: withNotes(p, wanted) },
    ports.signal,
  )) as KubeObject;

/** The object with the annotations that it gets at its creation. */
function withNotes({ annotateBeforeCreate: notes }: Placed, wanted: KubeObject): KubeObject {
  if (!notes) return wanted;
  const annotations = { ...wanted.metadata.annotations, ...notes };
  return { ...wanted, metadata: { ...wanted.metadata, annotations } };
}

const read = ({ kind, object }: Placed, { access, signal }: ApplyPorts): Promise<KubeObject | undefined> =>
  getIfThere(access.client, kind as Kind<KubeObject>, keyOfRef(refOf(object)), signal);

const touched = (p: Placed, live: KubeObject): Applied => ({
  placed: p,
  entry: entryOf(p, live.metadata.uid),
  live,
  isTouched: true,
});

export function labelled(object: KubeObject, { labels }: Ownership): KubeObject {
  const wanted = copy(withoutServerOwned(object));
  return { ...wanted, metadata: { ...wanted.metadata, labels: { ...wanted.metadata.labels, ...labels } } };
}

function check({ object, kind }: Placed): void {
  const { name, namespace } = object.metadata;
  if (typeof name !== 'string' || name === '') throw new BadManifest(NAMELESS);
  if (name.includes('/')) throw new BadManifest('metadata.name must not contain a slash');
  if (kind.namespaced && !namespace)
    throw new BadManifest('the manifest has no namespace, and there is no default namespace');
}
