/** Objects on targets that have pods, and which pods belong to which of them. Pure. */
import { isObject, ownField, type View } from '../../../lib/objects.ts';
import { DaemonSet, Deployment, Job, Pod, ReplicaSet, StatefulSet } from '../../../runtime/core-kinds.ts';
import type { Kind, Obj } from '../../../runtime/types.ts';

/** An object on a target, as the provider status names it. */
export interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const kinds: ReadonlyMap<string, Kind> = new Map(
  ([Pod, Deployment, StatefulSet, DaemonSet, ReplicaSet, Job] as readonly Kind[]).map((kind) => [
    `${kind.group}/${kind.kind}`,
    kind,
  ]),
);

/** The kind of an object that has pods, or is one; undefined for all others. */
export function workloadKind({ apiVersion, kind }: Pick<Workload, 'apiVersion' | 'kind'>): Kind | undefined {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  return kinds.get(`${group}/${kind}`);
}

/**
 * Whether the pod is the object, or was created for it. A selector is not enough: it may match pods of other objects.
 * A Deployment creates ReplicaSets, which have its name and the hash of the template in their names.
 */
export function isPodOf({ kind, name }: Workload, { metadata }: View<Obj>): boolean {
  if (kind === 'Pod') return metadata.name === name;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (!owner) return false;
  if (kind !== 'Deployment') return owner.kind === kind && owner.name === name;
  const hash = metadata.labels?.['pod-template-hash'];
  return owner.kind === 'ReplicaSet' && hash !== undefined && owner.name === `${name}-${hash}`;
}

/** Whether an event is about a ReplicaSet of a Deployment: it says why the ReplicaSet creates no pods. */
export function isReplicaSetOf({ kind, name }: Workload, about: { kind?: string; name?: string }): boolean {
  if (kind !== 'Deployment' || about.kind !== 'ReplicaSet') return false;
  const [set = '', start] = [about.name, `${name}-`];
  return set.startsWith(start) && /^[a-z0-9]+$/.test(set.slice(start.length));
}

/** The selector of an object as text for requests; undefined if it selects nothing that can be requested. */
export function selectorOf(object: View<Obj>): string | undefined {
  const selector = ownField(ownField(object, 'spec'), 'selector');
  const labels = ownField(selector, 'matchLabels');
  const expressions = ownField(selector, 'matchExpressions');
  const terms = [
    ...Object.entries(isObject(labels) ? labels : {}).map(([key, value]) => `${key}=${String(value)}`),
    ...(Array.isArray(expressions) ? expressions.map(termOf) : []),
  ];
  return terms.length === 0 || terms.includes(undefined) ? undefined : terms.join(',');
}

function termOf(expression: unknown): string | undefined {
  const [key, operator, values] = ['key', 'operator', 'values'].map((name) => ownField(expression, name));
  if (typeof key !== 'string') return undefined;
  const list = Array.isArray(values) ? values.map(String).join(',') : '';
  switch (operator) {
    case 'In':
      return `${key} in (${list})`;
    case 'NotIn':
      return `${key} notin (${list})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return undefined;
  }
}
