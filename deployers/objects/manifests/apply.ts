/**
 * Applies manifests to a cluster: resolves their kinds, then creates or updates them stage by stage, and collects
 * failures.
 */
import { outlookOf } from '../../../src/lib/outlook.ts';
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
import { runGraph } from '../../../src/workflow/run-graph.ts';
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
import { KeptObjects } from './kept-objects.ts';
import { applyOne, type Applied, type ApplyPorts } from './object.ts';
import { inSteps, kindFromCrds, stageOf, stages, type ResolvedManifest } from './order.ts';
import { inParallel } from './parallel.ts';

export interface ApplyResult {
  readonly applied: readonly Applied[];
  /** Inventory entries of this apply, in the order of the inventory. */
  readonly managed: readonly ManagedResource[];
  /** All failures as one error; absent if all succeeded. */
  readonly problem?: Problem;
}

const DISCOVERY = { operation: 'GetApiResource', reason: 'GetApiResourceList' } as const;
const APPLY = { operation: 'ApplyObjects', reason: 'ApplyNewObject' } as const;

/**
 * Resolves the kind of every manifest, on the cluster or from a CustomResourceDefinition among the manifests.
 * @throws DeployerError if the cluster does not serve a kind or does not respond
 */
export async function resolveKinds(
  manifests: readonly Manifest[],
  access: KubeAccess,
  targetName: string,
): Promise<readonly ResolvedManifest[]> {
  const crds = manifests.map(({ object }) => object).filter(({ kind }) => kind === CRD_KIND);
  const result: ResolvedManifest[] = [];
  for (const manifest of manifests) result.push(await resolveKind(manifest, crds, access, targetName));
  return result;
}

/** @throws as `resolveKinds` */
export async function resolveKind(
  manifest: Manifest,
  crds: readonly KubeObject[],
  access: KubeAccess,
  targetName: string,
): Promise<ResolvedManifest> {
  const kind = await kindOf(manifest.object, crds, access).catch((error: unknown) => {
    const { apiVersion } = manifest.object;
    const where = `${apiVersion}, wanted by ${describeManifest(manifest)}, on target ${targetName}`;
    throw at(DISCOVERY, error, (message) => `unable to get api resources for ${where}: ${message}`);
  });
  return withoutNamespaceIfClusterScoped(manifest, kind);
}

/** A namespace in an object that is not namespaced has no meaning; it is removed so that names stay unique. */
function withoutNamespaceIfClusterScoped(manifest: Manifest, kind: Kind<Obj>): ResolvedManifest {
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

/** Applies all manifests. A failure stops neither the other manifests of its stage nor the later stages. */
export async function applyAll(
  manifests: readonly ResolvedManifest[],
  old: readonly ManagedResource[],
  ports: ApplyPorts,
): Promise<ApplyResult> {
  const known = new Map(old.map((entry) => [idOf(entry.resource), entry]));
  const applied: Applied[] = [];
  const kept = new KeptObjects();
  const failures: { manifest: ResolvedManifest; error: unknown }[] = [];
  const start = async (stage: string): Promise<'ready'> => {
    const members = manifests.filter((p) => stageOf(p) === stage);
    const write = async (p: ResolvedManifest): Promise<void> => {
      try {
        const { live, ...one } = await applyOne(p, known.get(idOf(refOf(p.object))), ports);
        applied.push(live && kept.admits(live) ? { ...one, live } : one);
      } catch (error) {
        if (ports.signal.aborted) throw error;
        failures.push({ manifest: p, error });
      }
    };
    for (const step of inSteps(members, ({ kind }) => kind)) await inParallel(step, write);
    return 'ready';
  };
  const policy = { gate: 'finished', failFast: false } as const;
  await runGraph({ dag: chainDag(stages), policy, limit: 1, states: new Map(), start });
  return result(applied, failures, known, ports);
}

function result(
  applied: readonly Applied[],
  failures: readonly { manifest: ResolvedManifest; error: unknown }[],
  known: ReadonlyMap<string, ManagedResource>,
  ports: ApplyPorts,
): ApplyResult {
  const done = applied.flatMap(({ manifest: p, entry }) => (entry ? [{ manifest: p, entry }] : []));
  const kept = failures.flatMap(({ manifest: p, error }) => {
    const before = known.get(idOf(refOf(p.object)));
    // Without a response, it is unknown whether the object was created.
    if (isForeign(p.policy) || (!before && !isUnanswered(error))) return [];
    return [{ manifest: p, entry: entryOf(p, before?.resource.uid ?? '') }];
  });
  const managed = inOrder([...done, ...kept]);
  if (failures.length === 0) return { applied, managed };
  return { applied, managed, problem: problemOf(failures, ports) };
}

const isUnanswered = (error: unknown): boolean =>
  error instanceof TransportError || error instanceof ServerFailure || error instanceof ResponseTooLarge;

/**
 * Maximum number of failures in one message; if a target is unavailable, thousands of objects fail in the same way.
 */
const MAX_LISTED = 10;

function problemOf(
  failures: readonly { manifest: ResolvedManifest; error: unknown }[],
  ports: ApplyPorts,
): Problem {
  const isRefused = failures.some(({ error }) => error instanceof Unauthorized);
  const messages = failures
    .map(
      ({ manifest: p, error }) => `${describeManifest(p)} on target ${ports.targetName}: ${messageOf(error)}`,
    )
    .sort();
  const more = messages.length - MAX_LISTED;
  const rest = more > 0 ? `; and ${String(more)} more objects` : '';
  return {
    ...APPLY,
    message: ports.mask(messages.slice(0, MAX_LISTED).join('; ') + rest),
    ...(failures.some(({ error }) => outlookOf(error) === 'unknown') && { outlook: 'unknown' as const }),
    codes: [
      ...(isRefused ? (['ERR_UNAUTHORIZED'] as const) : []),
      ...(failures.some(({ error }) => isDefinite(error)) ? (['ERR_CONFIGURATION_PROBLEM'] as const) : []),
    ],
  };
}

/** The inventory to store after an apply: after failures, all entries of the old one are kept. */
export const inventoryAfter = (
  old: readonly ManagedResource[],
  { managed }: ApplyResult,
): readonly ManagedResource[] => union(old, managed);
