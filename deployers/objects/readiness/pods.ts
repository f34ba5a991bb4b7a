/** Why the pods of a workload do not become ready: what its status does not say. */
import type { KubeAccess } from '../../sdk/access.ts';
import type { KubeObject } from '../manifests/model.ts';
import { cutEnd } from '../../../src/lib/cut.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';

const WORKLOADS = ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'];
const MAX_MESSAGE = 300;
/** Pods of one template have the same problems. */
const MAX_PODS = 100;

/**
 * A sentence about the first pod of the workload with a problem, or about the workload if it cannot create pods;
 * undefined if there is none, or if it cannot be determined. One request, only for kinds that have pods.
 */
export async function podProblem(
  workload: KubeObject,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!WORKLOADS.includes(workload.kind) || !workload.apiVersion.startsWith('apps/')) return undefined;
  const failure = replicaFailure(workload);
  if (failure !== undefined) return failure;
  const labels = selectorOf(workload);
  if (labels === undefined) return undefined;
  try {
    const kind = await access.kindOf('v1', 'Pod');
    const namespace = workload.metadata.namespace ?? '';
    for await (const { items } of access.client.list(kind, { namespace, labels, limit: MAX_PODS }, signal)) {
      for (const pod of items) {
        const problem = problemOfPod(pod);
        if (problem !== undefined) return `pod ${pod.metadata.name}: ${problem}`;
      }
      return undefined; // The first page is enough.
    }
  } catch (error) {
    if (signal.aborted) throw error;
    // The target may not permit to read pods; the check itself does not need them.
  }
  return undefined;
}

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

function problemOfPod(pod: unknown): string | undefined {
  const status = ownField(pod, 'status');
  for (const list of ['initContainerStatuses', 'containerStatuses']) {
    for (const container of listOf(ownField(status, list))) {
      const problem = problemOfContainer(container);
      if (problem !== undefined) return `container ${textOf(container, 'name')}: ${problem}`;
    }
  }
  return sentence(
    conditionsOf(pod).find((one) => one['type'] === 'PodScheduled' && one['status'] === 'False'),
  );
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
