/** Simulated pods: scheduled, started, ready, or with the failure that their annotation requests. */
import { isObject, textOf } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { specOf, statusOf, troubleOf, withConditions } from './simulator.ts';
import type { Simulator, Workbench } from './simulator.ts';

const NODE = 'espalier-node';
const NODE_IP = '10.0.0.250';

export async function createNode(bench: Workbench): Promise<void> {
  if (bench.world.store.get('/nodes', NODE)) return;
  const { now } = bench;
  const large = { cpu: '1000', memory: '1000Gi', pods: '100000', 'ephemeral-storage': '1000Gi' };
  const answer = await bench.kubelet.create(bench.kind('/nodes'), {
    metadata: { name: NODE, labels: { 'kubernetes.io/hostname': NODE, 'kubernetes.io/os': 'linux' } },
    spec: {},
  });
  if (answer.code !== 201) return;
  await bench.setStatus(
    '/nodes',
    answer.body as unknown as KubeObject,
    {
      capacity: large,
      allocatable: large,
      addresses: [
        { type: 'InternalIP', address: NODE_IP },
        { type: 'Hostname', address: NODE },
      ],
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'nothing runs here, and it does so reliably',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: 'simulated',
        osImage: 'simulated',
        containerRuntimeVersion: 'simulated://1',
        kubeletVersion: 'v1.34.0',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
    bench.kubelet,
  );
}

export const simulatePod: Simulator = async (bench, live) => {
  const kind = bench.kind('/pods');
  if (live.metadata.deletionTimestamp !== undefined) {
    if (live.metadata.deletionGracePeriodSeconds !== 0)
      await bench.kubelet.delete(kind, live, {
        gracePeriodSeconds: 0,
        preconditions: { uid: live.metadata.uid },
      });
    return undefined;
  }
  const phase = textOf(statusOf(live)['phase']) || 'Pending';
  if (phase === 'Succeeded' || phase === 'Failed') return undefined;
  if (!specOf(live)['nodeName']) {
    await bench.manager.request(
      'POST',
      `/api/v1/namespaces/${live.metadata.namespace ?? ''}/pods/${live.metadata.name}/binding`,
      { target: { apiVersion: 'v1', kind: 'Node', name: NODE } },
    );
    return undefined;
  }
  const trouble = troubleOf(live.metadata.annotations);
  if (trouble?.kind === 'delay') {
    const age = bench.world.clock.wall() - bench.createdAt(live);
    if (age < trouble.ms) return trouble.ms - age;
  }
  await bench.setStatus('/pods', live, runningStatus(bench, live), bench.kubelet);
  return undefined;
};

function runningStatus(bench: Workbench, live: KubeObject): JsonObject {
  const trouble = troubleOf(live.metadata.annotations)?.kind;
  const isJob = live.metadata.ownerReferences?.some((o) => o.kind === 'Job') === true;
  const isFailed = trouble === 'fail';
  const isDone = isFailed || (isJob && trouble === undefined) || (isJob && trouble === 'delay');
  const isReadyNow = !isDone && trouble !== 'never-ready' && trouble !== 'crash-loop';
  const old = statusOf(live);
  const { now } = bench;
  const startTime = old['startTime'] ?? now;
  const ip = old['podIP'] ?? podIp(bench);
  const condition = (type: string, isTrue: boolean, extra: JsonObject = {}): JsonObject => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastProbeTime: null,
    ...(isTrue ? {} : extra),
  });
  const ended = isDone
    ? { reason: isFailed ? 'PodFailed' : 'PodCompleted' }
    : { reason: 'ContainersNotReady' };
  const gates = Array.isArray(specOf(live)['readinessGates'])
    ? (specOf(live)['readinessGates'] as JsonObject[])
    : [];
  return {
    ...old,
    phase: isDone ? (isFailed ? 'Failed' : 'Succeeded') : 'Running',
    hostIP: NODE_IP,
    hostIPs: [{ ip: NODE_IP }],
    podIP: ip,
    podIPs: [{ ip }],
    startTime,
    containerStatuses: containers(live).map((container) =>
      containerStatus(container, { isDone, isFailed, isReadyNow, trouble, startTime, now }),
    ),
    conditions: withConditions(
      old['conditions'],
      [
        condition('PodScheduled', true),
        condition('Initialized', true),
        condition('ContainersReady', isReadyNow, ended),
        condition('Ready', isReadyNow, ended),
        ...gates.map((gate) => condition(String(gate['conditionType']), isReadyNow, ended)),
      ],
      now,
    ),
  };
}

const containers = (live: KubeObject): JsonObject[] => {
  const list = specOf(live)['containers'];
  return Array.isArray(list) ? list.filter(isObject) : [];
};

function containerStatus(
  container: JsonObject,
  s: {
    isDone: boolean;
    isFailed: boolean;
    isReadyNow: boolean;
    trouble: string | undefined;
    startTime: unknown;
    now: string;
  },
): JsonObject {
  const state: JsonObject = s.isDone
    ? {
        terminated: {
          exitCode: s.isFailed ? 1 : 0,
          reason: s.isFailed ? 'Error' : 'Completed',
          startedAt: s.startTime,
          finishedAt: s.startTime,
        },
      }
    : s.trouble === 'crash-loop'
      ? { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' } }
      : { running: { startedAt: s.startTime } };
  const image = textOf(container['image']);
  return {
    name: container['name'],
    image,
    imageID: image,
    containerID: `simulated://${String(container['name'])}`,
    ready: s.isReadyNow,
    started: !s.isDone && s.trouble !== 'crash-loop',
    restartCount: s.trouble === 'crash-loop' ? 1 : 0,
    state,
    lastState: {},
  };
}

const podIp = (bench: Workbench): string =>
  `10.244.${Math.floor(bench.world.rng.next() * 256)}.${1 + Math.floor(bench.world.rng.next() * 254)}`;
