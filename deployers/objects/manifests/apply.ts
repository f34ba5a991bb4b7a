/** Brings manifests onto a cluster: finds their kinds, then stage by stage creates or updates, collecting what fails. */
import type { Problem } from '../../../src/machine/decision.ts';
import {
  NoSuchKind,
  ResponseTooLarge,
  ServerFailure,
  TransportError,
  Unauthorized,
} from '../../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { chainDag } from '../../../src/workflow/dag.ts';
import { drive } from '../../../src/workflow/drive.ts';
import { at, isDefinite, messageOf } from '../../sdk/errors.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import { entryOf, inOrder, union } from './inventory.ts';
import {
  CRD_KIND,
  describeManifest,
  idOf,
  isForeign,
  refOf,
  type KubeObject,
  type ManagedResource,
  type Manifest,
} from './model.ts';
import { Kept } from './kept.ts';
import { applyOne, type Applied, type ApplyPorts } from './object.ts';
import { kindFromCrds, stageOf, stages, type Placed } from './order.ts';
import { inParallel } from './parallel.ts';

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
export async function placed(
  manifests: readonly Manifest[],
  access: KubeAccess,
  targetName: string,
): Promise<readonly Placed[]> {
  const crds = manifests.map(({ object }) => object).filter(({ kind }) => kind === CRD_KIND);
  const result: Placed[] = [];
  for (const manifest of manifests) result.push(await placedOne(manifest, crds, access, targetName));
  return result;
}

/** @throws as `placed` */
export async function placedOne(
  manifest: Manifest,
  crds: readonly KubeObject[],
  access: KubeAccess,
  targetName: string,
): Promise<Placed> {
  const kind = await kindOf(manifest.object, crds, access).catch((error: unknown) => {
    const { apiVersion } = manifest.object;
    const where = `${apiVersion}, wanted by ${describeManifest(manifest)}, on target ${targetName}`;
    throw at(DISCOVERY, error, (message) => `unable to get api resources for ${where}: ${message}`);
  });
  return settled(manifest, kind);
}

/** A namespace on an object that has none means nothing, and is dropped so that it does not confuse names. */
function settled(manifest: Manifest, kind: Kind<Obj>): Placed {
  const { namespace, ...metadata } = manifest.object.metadata;
  if (kind.namespaced || namespace === undefined) return { ...manifest, kind };
  return { ...manifest, object: { ...manifest.object, metadata }, kind };
}

async function kindOf(
  { apiVersion, kind }: KubeObject,
  crds: readonly KubeObject[],
  access: KubeAccess,
): Promise<Kind<Obj>> {
  try {
    return await access.kindOf(apiVersion, kind);
  } catch (error) {
    const announced = error instanceof NoSuchKind ? kindFromCrds(crds, apiVersion, kind) : undefined;
    if (announced) return announced;
    throw error;
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
  const kept = new Kept();
  const failures: { placed: Placed; error: unknown }[] = [];
  const start = async (stage: string): Promise<'ready'> => {
    const members = manifests.filter((p) => stageOf(p) === stage);
    await inParallel(members, async (p) => {
      try {
        const { live, ...one } = await applyOne(p, known.get(idOf(refOf(p.object))), ports);
        applied.push(live && kept.admits(live) ? { ...one, live } : one);
      } catch (error) {
        if (ports.signal.aborted) throw error;
        failures.push({ placed: p, error });
      }
    });
    return 'ready';
  };
  const policy = { gate: 'finished', failFast: false } as const;
  await drive({ dag: chainDag(stages), policy, limit: 1, states: new Map(), start });
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
    if (isForeign(p.policy) || (!before && !isUnanswered(error))) return [];
    return [{ placed: p, entry: entryOf(p, before?.resource.uid ?? '') }];
  });
  const managed = inOrder([...done, ...kept]);
  if (failures.length === 0) return { applied, managed };
  return { applied, managed, problem: problemOf(failures, ports) };
}

const isUnanswered = (error: unknown): boolean =>
  error instanceof TransportError || error instanceof ServerFailure || error instanceof ResponseTooLarge;

/** How many failures one message names; a target that is away fails thousands of objects alike. */
const SHOWN = 10;

function problemOf(failures: readonly { placed: Placed; error: unknown }[], ports: ApplyPorts): Problem {
  const isRefused = failures.some(({ error }) => error instanceof Unauthorized);
  const messages = failures
    .map(
      ({ placed: p, error }) => `${describeManifest(p)} on target ${ports.targetName}: ${messageOf(error)}`,
    )
    .sort();
  const more = messages.length - SHOWN;
  const rest = more > 0 ? `; and ${String(more)} more objects` : '';
  return {
    ...APPLY,
    message: ports.mask(messages.slice(0, SHOWN).join('; ') + rest),
    codes: [
      ...(isRefused ? (['ERR_UNAUTHORIZED'] as const) : []),
      ...(failures.some(({ error }) => isDefinite(error)) ? (['ERR_CONFIGURATION_PROBLEM'] as const) : []),
    ],
  };
}

/** What to store after an apply: with failures nothing of the old list is forgotten. */
export const inventoryAfter = (
  old: readonly ManagedResource[],
  { managed }: ApplyResult,
): readonly ManagedResource[] => union(old, managed);
