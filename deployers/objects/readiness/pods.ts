/** Why the pods of a workload do not become ready: what its status does not say. */
import type { KubeAccess } from '../../sdk/access.ts';
import type { KubeObject } from '../manifests/model.ts';
import type { Mask } from '../../../src/lib/masking.ts';
import { lastLines } from './pod-log.ts';
import { cutEnd } from '../../../src/lib/cut.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';

const WORKLOADS = [
  'apps/v1/Deployment',
  'apps/v1/ReplicaSet',
  'apps/v1/StatefulSet',
  'apps/v1/DaemonSet',
  'batch/v1/Job',
];
const MAX_MESSAGE = 300;
/** Pods of one template have the same problems. */
const MAX_PODS = 100;

interface PodPorts {
  readonly access: KubeAccess;
  readonly signal: AbortSignal;
  readonly mask: Mask;
  /** Whether the last lines of the pod are shown, too. */
  readonly withLog: boolean;
}

/**
 * A sentence about the last pod of the workload with a problem, or about the workload if it cannot create pods;
 * undefined if there is none, or if it cannot be determined. One request, only for kinds that have pods.
 */
export async function podProblem(workload: KubeObject, ports: PodPorts): Promise<string | undefined> {
  if (workload.kind === 'Pod' && workload.apiVersion === 'v1') return sentenceAbout([workload], ports);
  if (!WORKLOADS.includes(`${workload.apiVersion}/${workload.kind}`)) return undefined;
  const failure = replicaFailure(workload);
  if (failure !== undefined) return failure;
  const labels = selectorOf(workload);
  if (labels === undefined) return undefined;
  const { access, signal } = ports;
  try {
    const kind = await access.kindOf('v1', 'Pod');
    const namespace = workload.metadata.namespace ?? '';
    // The first page is enough.
    for await (const { items } of access.client.list(kind, { namespace, labels, limit: MAX_PODS }, signal))
      return await sentenceAbout(items as readonly KubeObject[], ports);
  } catch (error) {
    if (signal.aborted) throw error;
    // The target may not permit to read pods; the check itself does not need them.
  }
  return undefined;
}

async function sentenceAbout(pods: readonly KubeObject[], ports: PodPorts): Promise<string | undefined> {
  const newestFirst = pods.toSorted((a, b) => createdAt(b) - createdAt(a));
  for (const pod of newestFirst) {
    const problem = problemOfPod(pod);
    if (problem === undefined) continue;
    const sentence = `pod ${pod.metadata.name}: ${problem.text}`;
    const { container } = problem;
    const lines = ports.withLog && container !== undefined && (await lastLines(pod, container, ports));
    return lines ? `${sentence}; its last lines:\n${lines}` : sentence;
  }
  return undefined;
}

const createdAt = ({ metadata }: KubeObject): number => Date.parse(metadata.creationTimestamp ?? '') || 0;

/** As a label selector; undefined for selectors with expressions. */
function selectorOf(workload: KubeObject): string | undefined {
  const selector = ownField(ownField(workload, 'spec'), 'selector');
  const labels = ownField(selector, 'matchLabels');
  if (!isObject(labels) || ownField(selector, 'matchExpressions') !== undefined) return undefined;
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');
}

/** Such as an exceeded quota, or a service account that does not exist. */
const replicaFailure = (workload: unknown): string | undefined =>
  sentence(
    conditionsOf(workload).find((one) => one['type'] === 'ReplicaFailure' && one['status'] === 'True'),
  );

interface PodProblem {
  readonly text: string;
  /** Undefined if no container started. */
  readonly container?: string;
}

function problemOfPod(pod: unknown): PodProblem | undefined {
  const status = ownField(pod, 'status');
  for (const list of ['initContainerStatuses', 'containerStatuses']) {
    for (const container of listOf(ownField(status, list))) {
      const problem = problemOfContainer(container);
      const name = textOf(container, 'name');
      if (problem !== undefined) return { text: `container ${name}: ${problem}`, container: name };
    }
  }
  const text = sentence(
    conditionsOf(pod).find((one) => one['type'] === 'PodScheduled' && one['status'] === 'False'),
  );
  return text === undefined ? undefined : { text };
}

/** States in which every container is for a moment. */
const USUAL = ['ContainerCreating', 'PodInitializing', 'Completed'];

/**
 * Undefined for a ready container, whatever happened to it before. The message of an ended container is left out: it
 * can be the end of its log, with secret values.
 */
function problemOfContainer(container: unknown): string | undefined {
  if (ownField(container, 'ready') === true) return undefined;
  const state = ownField(container, 'state');
  const waiting = ownField(state, 'waiting');
  const before = ownField(ownField(container, 'lastState'), 'terminated');
  const ended = ownField(state, 'terminated') ?? before;
  const code = ownField(ended, 'exitCode');
  const exit = typeof code === 'number' && code !== 0 ? `, last exit code ${String(code)}` : '';
  if (isObject(waiting) && !USUAL.includes(textOf(waiting, 'reason')))
    return `${sentence(waiting) ?? ''}${exit}`;
  return exit === '' ? undefined : `${textOf(ended, 'reason') || 'ended'}${exit}`;
}

const conditionsOf = (object: unknown): readonly Readonly<Record<string, unknown>>[] =>
  listOf(ownField(ownField(object, 'status'), 'conditions')).filter(isObject);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown, field: string): string => {
  const found = ownField(value, field);
  return typeof found === 'string' ? found : '';
};

/** `Reason: message`, in one line. */
function sentence(given: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (!given) return undefined;
  const parts = [textOf(given, 'reason'), textOf(given, 'message')].filter((part) => part !== '');
  const text = parts.join(': ').replaceAll(/\s+/g, ' ').trim();
  return text.length > MAX_MESSAGE ? `${cutEnd(text, MAX_MESSAGE)}…` : text;
}
