/** ReplicaSets and StatefulSets: the desired number of pods, and a status that counts them. */
import { cloneJson } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { templateHash } from './simulate-deployment.ts';
import { controllerRef, isActive, isReady, numberIn, specOf, templateOf } from './simulator.ts';
import type { Simulator, Workbench } from './simulator.ts';

const PODS = '/pods';
const CLAIMS = '/persistentvolumeclaims';

export const simulateReplicaSet: Simulator = async (bench, live) => {
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const wanted = numberIn(specOf(live), 'replicas', 1);
  const pods = bench.controlled(live, PODS).filter(isActive);
  const kind = bench.kind(PODS);
  for (let missing = wanted - pods.length; missing > 0; missing--)
    await bench.create(live, PODS, bench.podFrom(live, templateOf(live), {}));
  for (const extra of pods.slice(wanted)) await bench.manager.delete(kind, extra);
  const now = bench.controlled(live, PODS).filter(isActive);
  const ready = now.filter(isReady).length;
  await bench.setStatus('apps/replicasets', live, {
    replicas: now.length,
    ...(now.length === 0 ? {} : { fullyLabeledReplicas: now.length }),
    ...(ready === 0 ? {} : { readyReplicas: ready, availableReplicas: ready }),
    observedGeneration: live.metadata.generation,
  });
  return undefined;
};

const REVISION_LABEL = 'controller-revision-hash';

export const simulateStatefulSet: Simulator = async (bench, live) => {
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const wanted = numberIn(specOf(live), 'replicas', 1);
  const revision = `${live.metadata.name}-${templateHash(templateOf(live))}`;
  const pods = bench.controlled(live, PODS);
  const kind = bench.kind(PODS);
  const step = nextStep(live, pods, wanted, revision);
  if (step?.remove) await bench.manager.delete(kind, step.remove);
  else if (step?.ordinal !== undefined) await createOrdinal(bench, live, step.ordinal, revision);
  const now = bench.controlled(live, PODS).filter(isActive);
  const ready = now.filter(isReady).length;
  const updated = now.filter((pod) => pod.metadata.labels?.[REVISION_LABEL] === revision).length;
  const isRolledOut = updated === now.length && now.length === wanted;
  const before = (live['status'] as JsonObject | undefined)?.['currentRevision'];
  const current = isRolledOut || before === undefined ? revision : before;
  await bench.setStatus('apps/statefulsets', live, {
    observedGeneration: live.metadata.generation,
    replicas: now.length,
    ...(ready === 0 ? {} : { readyReplicas: ready }),
    availableReplicas: ready,
    ...(updated === 0 ? {} : { updatedReplicas: updated }),
    currentReplicas: current === revision ? updated : now.length - updated,
    currentRevision: current,
    updateRevision: revision,
    collisionCount: 0,
  });
  return undefined;
};

interface Step {
  readonly remove?: KubeObject;
  readonly ordinal?: number;
}

/** One pod at a time: missing ordinals first, then surplus pods, then pods of an old revision. */
function nextStep(
  live: KubeObject,
  pods: readonly KubeObject[],
  wanted: number,
  revision: string,
): Step | undefined {
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const isParallel = specOf(live)['podManagementPolicy'] === 'Parallel';
  for (let ordinal = 0; ordinal < wanted; ordinal++) {
    const pod = byName.get(`${live.metadata.name}-${ordinal}`);
    if (!pod) return { ordinal };
    if (pod.metadata.deletionTimestamp !== undefined) return undefined;
    if (!isParallel && !isReady(pod)) break;
  }
  const active = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined);
  const extra = active
    .filter((pod) => ordinalOf(pod) >= wanted)
    .sort((a, b) => ordinalOf(b) - ordinalOf(a))[0];
  if (extra) return { remove: extra };
  const old = active
    .filter((pod) => pod.metadata.labels?.[REVISION_LABEL] !== revision)
    .sort((a, b) => ordinalOf(b) - ordinalOf(a))[0];
  const areOthersReady = active.every((pod) => pod === old || isReady(pod));
  return old && areOthersReady ? { remove: old } : undefined;
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${String(namespace)}/${name}`;

const ordinalOf = (pod: KubeObject): number => Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? -1);

async function createOrdinal(
  bench: Workbench,
  live: KubeObject,
  ordinal: number,
  revision: string,
): Promise<void> {
  const name = `${live.metadata.name}-${ordinal}`;
  const template = templateOf(live);
  const claims = claimsOf(live, name);
  for (const claim of claims.values())
    if (!bench.world.store.get(CLAIMS, keyOf(claim))) await bench.create(live, CLAIMS, claim);
  const pod = bench.podFrom(live, template, {
    name,
    labels: {
      'apps.kubernetes.io/pod-index': String(ordinal),
      [REVISION_LABEL]: revision,
      'statefulset.kubernetes.io/pod-name': name,
    },
    spec: {
      hostname: name,
      ...(specOf(live)['serviceName'] ? { subdomain: specOf(live)['serviceName'] } : {}),
      ...(claims.size > 0 && { volumes: volumesOf(template, claims) }),
    },
  });
  await bench.create(live, PODS, pod);
}

/** The PersistentVolumeClaims of a pod, by the name of their volume. They outlive the pod, and by default the set. */
function claimsOf(live: KubeObject, pod: string): ReadonlyMap<string, KubeObject> {
  const { volumeClaimTemplates = [], persistentVolumeClaimRetentionPolicy, selector } = specOf(live);
  const { whenDeleted } = (persistentVolumeClaimRetentionPolicy ?? {}) as JsonObject;
  const { matchLabels } = (selector ?? {}) as { matchLabels?: Record<string, string> };
  const claimOf = ({ metadata, spec }: KubeObject): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `${metadata.name}-${pod}`,
      namespace: live.metadata.namespace ?? '',
      labels: { ...metadata.labels, ...matchLabels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ...(whenDeleted === 'Delete' && { ownerReferences: [controllerRef(live)] }),
    },
    spec: cloneJson(spec),
  });
  return new Map((volumeClaimTemplates as KubeObject[]).map((each) => [each.metadata.name, claimOf(each)]));
}

/** The volumes of the template; one with the name of a claim is replaced by the claim. */
function volumesOf(template: JsonObject, claims: ReadonlyMap<string, KubeObject>): JsonObject[] {
  const { volumes = [] } = (template['spec'] ?? {}) as JsonObject;
  return [
    ...(volumes as JsonObject[]).filter(({ name }) => !claims.has(String(name))),
    ...[...claims].map(([name, { metadata }]) => ({
      name,
      persistentVolumeClaim: { claimName: metadata.name },
    })),
  ];
}
