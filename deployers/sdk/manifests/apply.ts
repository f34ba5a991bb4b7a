/** Brings manifests onto a cluster: finds their kinds, then stage by stage creates or updates, collecting what fails. */
import { copy } from '../../../src/lib/json.ts';
import type { Problem } from '../../../src/machine/decision.ts';
import {
  AlreadyExists,
  Conflict,
  Forbidden,
  Invalid,
  NoSuchKind,
  ServerFailure,
  TransportError,
  Unauthorized,
} from '../../../src/runtime/errors.ts';
import { getIfThere } from '../../../src/runtime/read.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { at, messageOf } from '../errors.ts';
import type { KubeAccess } from '../access.ts';
import { entryOf, inOrder, union } from './inventory.ts';
import { isOwned, type Ownership } from './label.ts';
import {
  CRD_KIND,
  describeRef,
  idOf,
  keyOfRef,
  refOf,
  type KubeObject,
  type ManagedResource,
  type Manifest,
  type Strategy,
} from './model.ts';
import { kindFromCrds, stageOf, stages, type Placed } from './order.ts';
import { inParallel } from './parallel.ts';
import { desired, isUnchanged } from './strategy.ts';

export interface ApplyPorts {
  readonly access: KubeAccess;
  readonly ownership: Ownership;
  readonly strategy: Strategy;
  /** For messages. */
  readonly targetName: string;
  /** Who server-side apply notes as the owner of fields. */
  readonly fieldManager: string;
  readonly signal: AbortSignal;
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

export interface ApplyResult {
  readonly applied: readonly Applied[];
  /** Entries of this apply, in the order of the inventory. */
  readonly managed: readonly ManagedResource[];
  /** All failures as one; absent when everything went well. */
  readonly problem?: Problem;
}

const DISCOVERY = { operation: 'GetApiResource', reason: 'GetApiResourceList' } as const;
const APPLY = { operation: 'ApplyObjects', reason: 'ApplyNewObject' } as const;

/**
 * The place of every manifest in the API of the cluster, or of a CustomResourceDefinition among the manifests.
 * @throws DeployerError when the cluster does not know a kind, or does not answer
 */
export async function placed(manifests: readonly Manifest[], access: KubeAccess): Promise<readonly Placed[]> {
  const crds = manifests.map(({ object }) => object).filter(({ kind }) => kind === CRD_KIND);
  const result: Placed[] = [];
  for (const manifest of manifests) {
    const { apiVersion, kind } = manifest.object;
    result.push(settled(manifest, await kindOf(apiVersion, kind, crds, access)));
  }
  return result;
}

/** A namespace on an object that has none means nothing, and is dropped so that it does not confuse names. */
function settled(manifest: Manifest, kind: Kind<Obj>): Placed {
  const { namespace, ...metadata } = manifest.object.metadata;
  if (kind.namespaced || namespace === undefined) return { ...manifest, kind };
  return { ...manifest, object: { ...manifest.object, metadata }, kind };
}

async function kindOf(
  apiVersion: string,
  kind: string,
  crds: readonly KubeObject[],
  access: KubeAccess,
): Promise<Kind<Obj>> {
  try {
    return await access.kindOf(apiVersion, kind);
  } catch (error) {
    const announced = error instanceof NoSuchKind ? kindFromCrds(crds, apiVersion, kind) : undefined;
    if (announced) return announced;
    throw at(DISCOVERY, error, (message) => `unable to get api resources for ${apiVersion}: ${message}`);
  }
}

/** Applies all manifests; a failure stops neither the others of its stage nor the later stages. */
export async function applyAll(
  manifests: readonly Placed[],
  old: readonly ManagedResource[],
  ports: ApplyPorts,
): Promise<ApplyResult> {
  const known = new Map(old.map((entry) => [idOf(entry.resource), entry]));
  const applied: Applied[] = [];
  const failures: { placed: Placed; error: unknown }[] = [];
  for (const stage of stages) {
    const members = manifests.filter((p) => stageOf(p) === stage);
    await inParallel(members, async (p) => {
      try {
        applied.push(await applyOne(p, known.get(idOf(refOf(p.object))), ports));
      } catch (error) {
        if (ports.signal.aborted) throw error;
        failures.push({ placed: p, error });
      }
    });
  }
  return result(applied, failures, known, ports);
}

function result(
  applied: readonly Applied[],
  failures: readonly { placed: Placed; error: unknown }[],
  known: ReadonlyMap<string, ManagedResource>,
  ports: ApplyPorts,
): ApplyResult {
  const done = applied.flatMap(({ placed: p, entry }) => (entry ? [{ placed: p, entry }] : []));
  const kept = failures.flatMap(({ placed: p, error }) => {
    const before = known.get(idOf(refOf(p.object)));
    // Without an answer nobody knows whether the object was made.
    if (!before && !isUnanswered(error)) return [];
    return [{ placed: p, entry: entryOf(p, before?.resource.uid ?? '') }];
  });
  const managed = inOrder([...done, ...kept]);
  if (failures.length === 0) return { applied, managed };
  return { applied, managed, problem: problemOf(failures, ports) };
}

const isUnanswered = (error: unknown): boolean =>
  error instanceof TransportError || error instanceof ServerFailure;

function problemOf(failures: readonly { placed: Placed; error: unknown }[], ports: ApplyPorts): Problem {
  const isRefused = failures.some(({ error }) => error instanceof Unauthorized);
  const messages = failures.map(
    ({ placed: { object }, error }) =>
      `${describeRef(refOf(object))} on target ${ports.targetName}: ${messageOf(error)}`,
  );
  return {
    ...APPLY,
    message: [...messages].sort().join('; '),
    codes: isRefused ? ['ERR_UNAUTHORIZED'] : [],
  };
}

// ---------------------------------------------------------------- one object

/** The manifest asks for something that no cluster would take. */
class BadManifest extends Error {
  override readonly name = 'BadManifest';
}

async function applyOne(p: Placed, known: ManagedResource | undefined, ports: ApplyPorts): Promise<Applied> {
  if (p.policy === 'ignore') return { placed: p, isTouched: false };
  check(p);
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
    const current = await read(p, ports);
    if (!current) throw error;
    return applyOver(p, current, wanted, ports);
  }
}

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
    `${describeRef(refOf(object))} was not made by this item; with policy immutable it is left as it is, and deleted with the item`,
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

async function create(p: Placed, wanted: KubeObject, ports: ApplyPorts): Promise<KubeObject> {
  const notes = p.annotateBeforeCreate;
  const object = notes
    ? {
        ...wanted,
        metadata: { ...wanted.metadata, annotations: { ...wanted.metadata.annotations, ...notes } },
      }
    : wanted;
  return (await ports.access.client.send(
    { verb: 'create', kind: p.kind, object },
    ports.signal,
  )) as KubeObject;
}

const read = ({ kind, object }: Placed, { access, signal }: ApplyPorts): Promise<KubeObject | undefined> =>
  getIfThere(access.client, kind as Kind<KubeObject>, keyOfRef(refOf(object)), signal);

const touched = (p: Placed, live: KubeObject): Applied => ({
  placed: p,
  entry: entryOf(p, live.metadata.uid),
  live,
  isTouched: true,
});

function labelled(object: KubeObject, { labels }: Ownership): KubeObject {
  const wanted = copy(object);
  return { ...wanted, metadata: { ...wanted.metadata, labels: { ...wanted.metadata.labels, ...labels } } };
}

function check({ object, kind }: Placed): void {
  const { name, namespace } = object.metadata;
  if (typeof name !== 'string' || name === '') throw new BadManifest('the manifest has no metadata.name');
  if (kind.namespaced && !namespace)
    throw new BadManifest('the manifest names no namespace, and there is no default one');
}

/** What to store after an apply: with failures nothing of the old list is forgotten. */
export const inventoryAfter = (
  old: readonly ManagedResource[],
  { managed }: ApplyResult,
): readonly ManagedResource[] => union(old, managed);
