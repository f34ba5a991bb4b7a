/** DaemonSets: a pod for each node. */
import { templateHash } from './simulate-deployment.ts';
import { isActive, isReady, templateOf } from './simulator.ts';
import type { Simulator } from './simulator.ts';

const PODS = '/pods';
const REVISION_LABEL = 'controller-revision-hash';

export const simulateDaemonSet: Simulator = async (bench, live) => {
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const nodes = [...bench.world.store.resource('/nodes').entries.keys()];
  const hash = templateHash(templateOf(live));
  const pods = bench.controlled(live, PODS).filter(isActive);
  const kind = bench.kind(PODS);
  const nodeOf = (pod: (typeof pods)[number]): unknown => (pod['spec'] as { nodeName?: string }).nodeName;
  for (const pod of pods)
    if (pod.metadata.labels?.[REVISION_LABEL] !== hash || !nodes.includes(String(nodeOf(pod))))
      await bench.manager.delete(kind, pod);
  for (const node of nodes)
    if (!pods.some((pod) => nodeOf(pod) === node && pod.metadata.labels?.[REVISION_LABEL] === hash))
      await bench.create(
        live,
        PODS,
        bench.podFrom(live, templateOf(live), {
          labels: { [REVISION_LABEL]: hash },
          spec: { nodeName: node },
        }),
      );
  const now = bench.controlled(live, PODS).filter(isActive);
  const ready = now.filter(isReady).length;
  await bench.setStatus('apps/daemonsets', live, {
    currentNumberScheduled: now.length,
    numberMisscheduled: 0,
    desiredNumberScheduled: nodes.length,
    numberReady: ready,
    observedGeneration: live.metadata.generation,
    updatedNumberScheduled: now.length,
    ...(ready === 0 ? {} : { numberAvailable: ready }),
    ...(ready === nodes.length ? {} : { numberUnavailable: nodes.length - ready }),
  });
  return undefined;
};
