/** Pods for the browser: states and messages. Environments, arguments and volumes are left out. Pure. */
import { podState } from '../../../apiserver/tables/workload.ts';
import type { KubeObject } from '../../../apiserver/types.ts';
import { type View } from '../../../lib/objects.ts';
import type { Pod } from '../../../runtime/core-kinds.ts';
import type { ContainerRow, ContainerType, PodRow } from '../wire.ts';

type Plain = View<Pod>;
type Status = NonNullable<NonNullable<Plain['status']>['containerStatuses']>[number];

export function podRowOf(pod: Plain): PodRow {
  const { ready, total, restarts, reason } = podState(pod as unknown as KubeObject);
  const containers = containersOf(pod);
  const createdAt = timeOf(pod.metadata.creationTimestamp);
  return {
    name: pod.metadata.name,
    namespace: pod.metadata.namespace ?? '',
    status: reason,
    isHealthy: isHealthy(pod, { ready, total, reason }),
    ready: `${String(ready)}/${String(total)}`,
    restarts,
    node: pod.spec?.nodeName ?? '',
    message: messageOf(pod, containers),
    ...(createdAt !== undefined && { createdAt }),
    containers,
  };
}

function isHealthy(
  { status }: Plain,
  { ready, total, reason }: { readonly ready: number; readonly total: number; readonly reason: string },
): boolean {
  return status?.phase === 'Succeeded' || (reason === 'Running' && ready === total);
}

/** The first of: the pod's own message, why it is not scheduled, the message of a container. */
function messageOf({ status }: Plain, containers: readonly ContainerRow[]): string {
  const unscheduled = status?.conditions?.find(
    (one) => one.type === 'PodScheduled' && one.status === 'False',
  );
  return (
    [status?.message, unscheduled?.message, ...containers.map(({ message }) => message)].find(Boolean) ?? ''
  );
}

function containersOf({ spec, status }: Plain): readonly ContainerRow[] {
  const all: readonly (readonly [ContainerType, readonly { readonly name: string }[], readonly Status[]])[] =
    [
      ['init', spec?.initContainers ?? [], status?.initContainerStatuses ?? []],
      ['container', spec?.containers ?? [], status?.containerStatuses ?? []],
      ['ephemeral', spec?.ephemeralContainers ?? [], status?.ephemeralContainerStatuses ?? []],
    ];
  return all.flatMap(([type, specs, statuses]) =>
    specs.map(({ name }) =>
      containerRowOf(
        name,
        type,
        statuses.find((one) => one.name === name),
      ),
    ),
  );
}

function containerRowOf(name: string, type: ContainerType, status: Status | undefined): ContainerRow {
  const { state = {}, lastState = {}, restartCount = 0, ready = false } = status ?? {};
  const last = lastState.terminated;
  return {
    name,
    type,
    ...stateOf(state),
    lastEnd: last ? endOf(last) : '',
    restarts: restartCount,
    isReady: ready,
    hasStarted: state.running !== undefined || state.terminated !== undefined || restartCount > 0,
  };
}

function stateOf({
  waiting,
  running,
  terminated,
}: NonNullable<Status['state']>): Pick<ContainerRow, 'state' | 'reason' | 'message' | 'since'> {
  const since = timeOf(terminated?.finishedAt ?? running?.startedAt);
  return {
    state: terminated ? 'terminated' : running ? 'running' : 'waiting',
    reason: terminated ? endOf(terminated) : (waiting?.reason ?? ''),
    message: waiting?.message ?? terminated?.message ?? '',
    ...(since !== undefined && { since }),
  };
}

/** `OOMKilled, exit code 137` */
function endOf({
  reason,
  exitCode,
  signal,
}: {
  reason?: string;
  exitCode?: number;
  signal?: number;
}): string {
  const code = signal ? `signal ${String(signal)}` : exitCode ? `exit code ${String(exitCode)}` : '';
  return [reason, code].filter(Boolean).join(', ');
}

function timeOf(time: unknown): number | undefined {
  const at = typeof time === 'string' ? Date.parse(time) : NaN;
  return Number.isNaN(at) ? undefined : at;
}
