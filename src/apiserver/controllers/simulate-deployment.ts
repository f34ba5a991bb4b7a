/** Deployments: one ReplicaSet per template; old ones are scaled down when the new one is ready. */
import { createHash } from 'node:crypto';
import { largest } from '../../lib/lists.ts';
import { isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { controllerRef, numberIn, specOf, statusOf, templateOf, withConditions } from './simulator.ts';
import type { Simulator, Workbench } from './simulator.ts';

const REPLICA_SETS = 'apps/replicasets';
const HASH_LABEL = 'pod-template-hash';
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const REVISION = 'deployment.kubernetes.io/revision';

/** A short name for a template, independent of the order of its members; upstream uses another hash. */
export function templateHash(template: JsonObject): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(sorted(template)))
    .digest();
  return Array.from(digest.subarray(0, 10), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.keys(value).sort();
  return Object.fromEntries(members.map((member) => [member, sorted(value[member])]));
}

export const simulateDeployment: Simulator = async (bench, live) => {
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const hash = templateHash(templateOf(live));
  const sets = bench.controlled(live, REPLICA_SETS);
  const current = sets.find((set) => set.metadata.labels?.[HASH_LABEL] === hash);
  const wanted = numberIn(specOf(live), 'replicas', 1);
  if (!current) {
    await createSet(bench, live, hash, sets, wanted);
    return undefined;
  }
  if (numberIn(specOf(current), 'replicas', 1) !== wanted)
    await bench.manager.mergePatch(bench.kind(REPLICA_SETS), current, { spec: { replicas: wanted } });
  const isCurrentReady =
    numberIn(statusOf(current), 'readyReplicas', 0) >= wanted &&
    statusOf(current)['observedGeneration'] === current.metadata.generation;
  if (isCurrentReady)
    for (const old of sets)
      if (old !== current && numberIn(specOf(old), 'replicas', 0) > 0)
        await bench.manager.mergePatch(bench.kind(REPLICA_SETS), old, { spec: { replicas: 0 } });
  const revision = current.metadata.annotations?.[REVISION] ?? '1';
  if (live.metadata.annotations?.[REVISION] !== revision) {
    await bench.manager.mergePatch(bench.kind('apps/deployments'), live, {
      metadata: { annotations: { [REVISION]: revision } },
    });
    return undefined;
  }
  await bench.setStatus('apps/deployments', live, status(bench, live, current, sets, wanted));
  return undefined;
};

async function createSet(
  bench: Workbench,
  live: KubeObject,
  hash: string,
  sets: readonly KubeObject[],
  replicas: number,
): Promise<void> {
  const template = templateOf(live);
  const meta = isObject(template['metadata']) ? template['metadata'] : {};
  const labels = { ...(meta['labels'] as JsonObject | undefined), [HASH_LABEL]: hash };
  const selector = specOf(live)['selector'] as JsonObject;
  const revision =
    1 + Math.max(0, largest(sets.map((set) => Number(set.metadata.annotations?.[REVISION] ?? 0))));
  await bench.create(live, REPLICA_SETS, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${live.metadata.name}-${hash}`,
      namespace: live.metadata.namespace,
      labels,
      annotations: {
        [REVISION]: String(revision),
        'deployment.kubernetes.io/desired-replicas': String(replicas),
        'deployment.kubernetes.io/max-replicas': String(replicas + Math.max(1, Math.ceil(replicas / 4))),
      },
      ownerReferences: [controllerRef(live)],
    },
    spec: {
      replicas,
      selector: {
        ...selector,
        matchLabels: { ...(selector['matchLabels'] as JsonObject | undefined), [HASH_LABEL]: hash },
      },
      template: { ...template, metadata: { ...meta, labels } },
    },
  });
}

function status(
  bench: Workbench,
  live: KubeObject,
  current: KubeObject,
  sets: readonly KubeObject[],
  wanted: number,
): JsonObject {
  const sum = (member: string): number => sets.reduce((n, set) => n + numberIn(statusOf(set), member, 0), 0);
  const [total, ready, available] = [sum('replicas'), sum('readyReplicas'), sum('availableReplicas')];
  const updated = numberIn(statusOf(current), 'replicas', 0);
  const isAvailable = available >= wanted - Math.floor(wanted / 4);
  const isComplete = updated === wanted && total === wanted && available >= wanted;
  const { now } = bench;
  const nonZero = (member: string, value: number): JsonObject => (value === 0 ? {} : { [member]: value });
  return {
    observedGeneration: live.metadata.generation,
    ...nonZero('replicas', total),
    ...nonZero('updatedReplicas', updated),
    ...nonZero('readyReplicas', ready),
    ...nonZero('availableReplicas', available),
    ...nonZero('unavailableReplicas', Math.max(0, Math.max(total, wanted) - available)),
    conditions: withConditions(
      statusOf(live)['conditions'],
      [
        isAvailable
          ? {
              type: 'Available',
              status: 'True',
              reason: 'MinimumReplicasAvailable',
              message: 'Deployment has minimum availability.',
              lastUpdateTime: now,
            }
          : {
              type: 'Available',
              status: 'False',
              reason: 'MinimumReplicasUnavailable',
              message: 'Deployment does not have minimum availability.',
              lastUpdateTime: now,
            },
        {
          type: 'Progressing',
          status: 'True',
          reason: isComplete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
          message: isComplete
            ? `ReplicaSet "${current.metadata.name}" has successfully progressed.`
            : `ReplicaSet "${current.metadata.name}" is progressing.`,
          lastUpdateTime: now,
        },
      ],
      now,
    ),
  };
}
