/**
 * Applies manifests to a cluster: resolves their kinds, then creates or updates them stage by stage, and collects
 * failures.
 */
import { append } from '../../../src/lib/lists.ts';
import { outlookOf } from '../../../src/lib/outlook.ts';
import type { Problem } from '../../../src/machine/decision.ts';
import {
  NoSuchKind,
  ResponseTooLarge,
  ServerFailure,
  TransportError,
  Unauthorized,
} from '../../../src/runtime/errors.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import type { Kind } from '../../../src/runtime/types.ts';
import { chainDag } from '../../../src/workflow/dag.ts';
import { runGraph } from '../../../src/workflow/run-graph.ts';
import { at, isDefinite, messageOf } from '../../sdk/errors.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import { conditionOf, isTrue } from '../readiness/fields.ts';
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
import { waitUntilServed, type NewKinds, type Unserved } from './new-kinds.ts';
import { inSteps, kindFromCrds, kindsOfCrd, stageOf, stages, type ResolvedManifest } from './order.ts';
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
  const found = await kindOf(manifest.object, crds, access).catch((error: unknown) => {
    const { apiVersion } = manifest.object;
    const where = `${apiVersion}, wanted by ${describeManifest(manifest)}, on target ${targetName}`;
    throw at(DISCOVERY, error, (message) => `unable to get api resources for ${where}: ${message}`);
  });
  return withoutNamespaceIfClusterScoped({ ...manifest, ...found });
}

/** A namespace in an object that is not namespaced has no meaning; it is removed so that names stay unique. */
function withoutNamespaceIfClusterScoped(manifest: ResolvedManifest): ResolvedManifest {
  const { namespace, ...metadata } = manifest.object.metadata;
  if (manifest.kind.namespaced || namespace === undefined) return manifest;
  return { ...manifest, object: { ...manifest.object, metadata } };
}

async function kindOf(
  { apiVersion, kind }: KubeObject,
  crds: readonly KubeObject[],
  access: KubeAccess,
): Promise<Pick<ResolvedManifest, 'kind' | 'isNewKind'>> {
  try {
    return { kind: await access.kindOf(apiVersion, kind) };
  } catch (error) {
    const announced = error instanceof NoSuchKind ? kindFromCrds(crds, apiVersion, kind) : undefined;
    if (announced) return { kind: announced, isNewKind: true };
    throw error;
  }
}

interface Failure {
  readonly manifest: ResolvedManifest;
  readonly error: unknown;
}

interface Problems {
  readonly failures: readonly Failure[];
  /** Definitions that were applied, but whose kinds the cluster does not serve. */
  readonly unserved: readonly Unserved<Definition>[];
}

/**
 * Applies all manifests. A failure stops neither the other manifests of its stage nor the later stages; only objects of kinds
 * that the cluster does not serve are left out.
 */
export async function applyAll(
  manifests: readonly ResolvedManifest[],
  old: readonly ManagedResource[],
  ports: ApplyPorts,
): Promise<ApplyResult> {
  const known = new Map(old.map((entry) => [idOf(entry.resource), entry]));
  const applied: Applied[] = [];
  const kept = new KeptObjects();
  const failures: Failure[] = [];
  const definitions: Definition[] = [];
  const unserved: Unserved<Definition>[] = [];
  const write = async (p: ResolvedManifest): Promise<void> => {
    try {
      const { live, ...one } = await applyOne(p, known.get(idOf(refOf(p.object))), ports);
      applied.push(live && kept.admits(live) ? { ...one, live } : one);
      const definition = definitionOf(p, live, manifests);
      if (definition) definitions.push(definition);
    } catch (error) {
      if (ports.signal.aborted) throw error;
      failures.push({ manifest: p, error });
    }
  };
  const start = async (stage: string): Promise<'ready'> => {
    const members = manifests.filter((p) => stageOf(p) === stage && !isUnserved(p, unserved));
    for (const step of inSteps(members, ({ kind }) => kind)) await inParallel(step, write);
    append(unserved, await waitUntilServed(definitions.splice(0), ports));
    return 'ready';
  };
  const policy = { gate: 'finished', failFast: false } as const;
  await runGraph({ dag: chainDag(stages), policy, limit: 1, states: new Map(), start });
  return result(applied, { failures, unserved }, known, ports);
}

/** A CustomResourceDefinition among the manifests, and the kinds of it that other manifests need. */
interface Definition extends NewKinds {
  readonly manifest: ResolvedManifest;
}

/** @returns undefined if the manifests need no kinds of it, or the cluster serves them already */
function definitionOf(
  manifest: ResolvedManifest,
  live: KubeObject | undefined,
  manifests: readonly ResolvedManifest[],
): Definition | undefined {
  const { object, kind } = manifest;
  if (object.kind !== CRD_KIND) return undefined;
  const kinds = kindsOfCrd(object);
  const isEstablished = live === undefined || isTrue(conditionOf(live, 'Established'));
  const needed = kinds.filter((one) =>
    manifests.some(
      (p) => p.policy !== 'ignore' && (p.isNewKind || !isEstablished) && isSameKind(p.kind, one),
    ),
  );
  return needed.length > 0 ? { manifest, name: object.metadata.name, kind, needed, live } : undefined;
}

const isSameKind = (a: Kind, b: Kind): boolean => apiVersionOf(a) === apiVersionOf(b) && a.kind === b.kind;

const isUnserved = ({ kind }: ResolvedManifest, unserved: readonly Unserved<Definition>[]): boolean =>
  unserved.some(({ definition: { needed } }) => needed.some((one) => isSameKind(one, kind)));

function result(
  applied: readonly Applied[],
  { failures, unserved }: Problems,
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
  const all = [
    ...failures,
    ...unserved.map(({ definition: { manifest }, error }): Failure => ({ manifest, error })),
  ];
  if (all.length === 0) return { applied, managed };
  return { applied, managed, problem: problemOf(all, ports) };
}

const isUnanswered = (error: unknown): boolean =>
  error instanceof TransportError || error instanceof ServerFailure || error instanceof ResponseTooLarge;

/**
 * Maximum number of failures in one message; if a target is unavailable, thousands of objects fail in the same way.
 */
const MAX_LISTED = 10;

function problemOf(failures: readonly Failure[], ports: ApplyPorts): Problem {
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
