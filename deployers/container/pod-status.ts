/** Computes provider status, conditions, and the state of the run from a pod. Pure. */
import type { Fields } from '../../src/lib/objects.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import type { Mask } from '../../src/lib/masking.ts';
import type { View } from '../../src/runtime/types.ts';
import type { ConditionChange, Problem } from '../../src/machine/decision.ts';
import { containers, type Operation } from './contract.ts';
import type { ContainerState, ContainerStatus, Pod } from './kinds.ts';
import { CONTAINER_API_VERSION } from './contract.ts';
import { hasCause, pullFailure, pullMessage } from './image-pull.ts';
import { codec, type Codec } from '../sdk/codec.ts';

/** State of one container in the provider status. */
interface ShownContainer extends Fields {
  readonly image: string;
  readonly imageID: string;
  readonly message?: string;
  readonly reason?: string;
  readonly state?: ContainerState;
  readonly exitCode?: number;
}

export interface PodStatus extends Fields {
  readonly podName: string;
  /** Creation time of the pod, RFC 3339. */
  readonly lastRun?: string;
  /** The last job with a successful run. */
  readonly lastSuccessfulJobID?: string;
  readonly containerStatus: ShownContainer;
  readonly initContainerStatus: ShownContainer;
  readonly waitContainerStatus: ShownContainer;
}

export interface ProviderStatus extends Fields {
  readonly apiVersion: string;
  readonly kind: 'ProviderStatus';
  readonly lastOperation: Operation;
  /**
   * The namespace of the pod and its objects. An addition of ours; absent after a run of an earlier version or of
   * upstream.
   */
  readonly namespace?: string;
  readonly podStatus?: PodStatus;
}

export const providerStatus: Codec<ProviderStatus> = codec('ProviderStatus', {
  [CONTAINER_API_VERSION]: (fields) => fields as ProviderStatus,
});

export const statusOf = (
  lastOperation: Operation,
  namespace: string,
  podStatus: PodStatus | undefined,
): ProviderStatus => ({
  apiVersion: CONTAINER_API_VERSION,
  kind: 'ProviderStatus',
  lastOperation,
  namespace,
  ...(podStatus && { podStatus }),
});

/** @param mask for messages of programs, because they may contain secrets */
export function podStatusOf(pod: View<Pod>, lastSuccessfulJobID: string | undefined, mask: Mask): PodStatus {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const all = [...initContainerStatuses, ...containerStatuses];
  const shown = (name: string): ShownContainer =>
    shownOf(
      all.find((one) => one.name === name),
      mask,
    );
  return {
    podName: pod.metadata.name,
    ...(pod.metadata.creationTimestamp !== undefined && { lastRun: pod.metadata.creationTimestamp }),
    ...(lastSuccessfulJobID !== undefined && { lastSuccessfulJobID }),
    containerStatus: shown(containers.main),
    initContainerStatus: shown(containers.init),
    waitContainerStatus: shown(containers.wait),
  };
}

/** Only the end of a message is kept, as the kubelet does. */
const MAX_MESSAGE = 1024;

const tail = (text: string): string => Buffer.from(text).subarray(-MAX_MESSAGE).toString('utf8');

function shownOf(status: View<ContainerStatus> | undefined, mask: Mask): ShownContainer {
  const state = masked(status?.state, mask) as ContainerState | undefined;
  const { waiting, terminated } = state ?? {};
  const message = terminated?.message ?? waiting?.message;
  const reason = terminated?.reason ?? waiting?.reason;
  return {
    image: status?.image ?? '',
    imageID: status?.imageID ?? '',
    ...(message && { message }),
    ...(reason && { reason }),
    ...(state && { state }),
    ...(terminated && { exitCode: terminated.exitCode }),
  };
}

function masked(value: unknown, mask: Mask): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      key === 'message' && typeof entry === 'string' ? tail(mask(entry)) : masked(entry, mask),
    ]),
  );
}

// ---------------------------------------------------------------- state of the run

type RunState =
  | { readonly is: 'running'; readonly why?: Problem | undefined }
  | { readonly is: 'succeeded' }
  /** The run fails; `isStuck` if the pod would not end by itself. */
  | { readonly is: 'failed'; readonly problem: Problem; readonly isStuck: boolean };

interface Watched {
  readonly name: string;
  readonly operation: string;
  readonly of: (status: PodStatus) => ShownContainer;
}

/** In the order in which they run; the first failed container is reported. */
const watched: readonly Watched[] = [
  { name: containers.init, operation: 'RunInitContainer', of: (s) => s.initContainerStatus },
  { name: containers.main, operation: 'RunMainContainer', of: (s) => s.containerStatus },
  { name: containers.wait, operation: 'RunWaitContainer', of: (s) => s.waitContainerStatus },
];

/** Every container starts with one of these reasons. */
const INITIAL_REASONS = ['ContainerCreating', 'PodInitializing'];

/** Why the run cannot succeed any more, according to its containers. */
export function failureIn(
  status: PodStatus,
  isOver: boolean,
): Extract<RunState, { is: 'failed' }> | undefined {
  for (const { name, operation, of } of watched) {
    const { image, reason = '', message = '', exitCode, state } = of(status);
    if (state?.waiting && pullFailure(reason, message) === 'final') {
      const place = { container: name, image, isFinal: true };
      const problem = { operation, reason, message: pullMessage(place, reason, message) };
      return { is: 'failed', isStuck: true, problem };
    }
    if (isOver && exitCode !== undefined && exitCode !== 0) {
      const problem = {
        operation,
        reason: 'ContainerFailed',
        message: sentence(name, exitCode, reason, message),
      };
      return { is: 'failed', isStuck: false, problem };
    }
  }
  return undefined;
}

function sentence(name: string, exitCode: number, reason: string, message: string): string {
  const cause = reason === '' || reason === 'Error' ? '' : ` (${reason})`;
  return `container ${name} exited with ${String(exitCode)}${cause}${message === '' ? '' : `: ${message}`}`;
}

/**
 * @param status of the same pod
 * @param causes why images could not be pulled, by container, if the status does not contain it
 */
export function runStateOf(
  pod: View<Pod>,
  status: PodStatus,
  causes: Readonly<Record<string, string>> = {},
): RunState {
  const { phase, reason = '', message = '' } = pod.status ?? {};
  const isOver = phase === 'Failed';
  if (phase === 'Succeeded') return failureIn(status, true) ?? unfinishedWait(status) ?? { is: 'succeeded' };
  // The kubelet ended the pod, and gives the reason; its containers were only killed.
  const failure = isOver && reason !== '' ? undefined : failureIn(status, isOver);
  if (failure) return failure;
  if (!isOver && neverRuns(pod)) return { is: 'failed', isStuck: true, problem: deleted(pod.metadata.name) };
  if (!isOver) return { is: 'running', why: startProblem(pod, status, causes) };
  const what = `pod ${pod.metadata.name} ended without a result`;
  const why = [reason, message].filter(Boolean).join(': ');
  const problem = {
    operation: 'RunMainContainer',
    reason: reason || 'PodFailed',
    message: why === '' ? what : `${what}: ${why}`,
  };
  return { is: 'failed', isStuck: false, problem };
}

/** The phase of a pod does not depend on native sidecars, so the export may be missing. */
function unfinishedWait({ waitContainerStatus }: PodStatus): Extract<RunState, { is: 'failed' }> | undefined {
  const { state, exitCode, reason = '', message = '' } = waitContainerStatus;
  if (state === undefined || exitCode !== undefined) return undefined;
  const why = [reason, message].filter(Boolean).join(': ');
  const what = `container wait did not end, so state and export of the image are not stored`;
  const problem = {
    operation: 'RunWaitContainer',
    reason: 'ContainerFailed',
    message: why === '' ? what : `${what}: ${why}`,
  };
  return { is: 'failed', isStuck: false, problem };
}

/** A pod that was deleted before it was scheduled never runs; only our finalizer keeps it. */
const neverRuns = ({ metadata, spec, status }: View<Pod>): boolean =>
  metadata.deletionTimestamp !== undefined &&
  !ownField(spec, 'nodeName') &&
  (status?.phase ?? 'Pending') === 'Pending';

const deleted = (pod: string): Problem => ({
  operation: 'RunMainContainer',
  reason: 'PodDeleted',
  message: `pod ${pod} was deleted before it was scheduled to a node; it is not created again in this job: start another job`,
});

/** Why a pod does not run at the moment, as a message for users; may be temporary. */
function startProblem(
  pod: View<Pod>,
  status: PodStatus,
  causes: Readonly<Record<string, string>>,
): Problem | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') {
    const { reason = 'Unschedulable', message = '' } = scheduled;
    return {
      operation: 'RunMainContainer',
      reason,
      message: `pod ${pod.metadata.name} has no node: ${message}`,
    };
  }
  for (const { name, operation, of } of watched) {
    const { image, state, reason = '', message = '' } = of(status);
    if (state?.waiting && pullFailure(reason, message)) {
      const place = { container: name, image, isFinal: false };
      const cause = hasCause(message) ? message : (causes[name] ?? message);
      return { operation, reason, message: pullMessage(place, reason, cause) };
    }
    if (state?.waiting && reason !== '' && !INITIAL_REASONS.includes(reason)) {
      return { operation, reason, message: `container ${name} does not start: ${reason}: ${message}` };
    }
  }
  return undefined;
}

/** The messages of containers whose images could not be pulled, by container. */
export function pullCausesIn(status: PodStatus): Readonly<Record<string, string>> {
  const found = watched.flatMap(({ name, of }) => {
    const { reason = '', message = '' } = of(status);
    return pullFailure(reason, message) && hasCause(message) ? [[name, message] as const] : [];
  });
  return Object.fromEntries(found);
}

/** Our finalizer should have prevented this. It is unknown what the image has done. */
export const podDisappeared = (pod: string): Problem => ({
  operation: 'RunMainContainer',
  reason: 'PodVanished',
  message: `pod ${pod} disappeared before its result was observed, so it is unknown whether it finished its work; it is not run again in this job: start another job`,
});

/** Whether a container of the pod may still be running. */
export const isActive = (pod: View<Pod>): boolean =>
  pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';

// ---------------------------------------------------------------- conditions

const CONDITIONS = [
  ['InitContainer', (s: PodStatus) => s.initContainerStatus],
  ['WaitContainer', (s: PodStatus) => s.waitContainerStatus],
] as const;

export const conditionsOf = (status: PodStatus): readonly ConditionChange[] =>
  CONDITIONS.map(([type, of]) => {
    const { exitCode, reason, message } = of(status);
    if (exitCode === 0) {
      return {
        type,
        status: 'True',
        reason: 'ContainerSucceeded',
        message: 'the container has exited with code 0',
      };
    }
    if (exitCode === undefined) {
      const waiting = ownField(of(status).state, 'waiting') === undefined ? 'Running' : (reason ?? 'Waiting');
      return {
        type,
        status: 'Progressing',
        reason: waiting,
        message: message ?? 'the container has not ended',
      };
    }
    return {
      type,
      status: 'False',
      reason: reason ?? 'ContainerFailed',
      message: message ?? `exit code ${String(exitCode)}`,
    };
  });
