/** Why an object is not ready: its holders, since when, and the next steps. Pure. */
import { isBeingDeleted, isSuspended } from '../../api/job.ts';
import { conditionTypes } from '../../api/conditions.ts';
import { annotations, FINALIZER } from '../../api/labels.ts';
import { withoutSteps } from '../tree/print.ts';
import { rootCauses, type Node } from '../tree/tree.ts';
import type { Holder, Why } from './wire.ts';

/** Where a node stands in its tree. */
interface Place {
  readonly root: Node;
  readonly siblings: readonly Node[];
}

export const idOf = ({ kind, namespace, name }: Pick<Node, 'kind' | 'namespace' | 'name'>): string =>
  `${kind}/${namespace}/${name}`;

/** Undefined if the object is ready. */
export function whyOf(node: Node, place: Place): Why | undefined {
  const isDeleted = isBeingDeleted(node.object.metadata);
  if (node.condition === 'succeeded' && !isDeleted) return undefined;
  const since = sinceOf(node);
  const holders = holdersOf(node, place);
  return {
    summary: summaryOf(node),
    ...(since !== undefined && { since }),
    holders: bounded(holders),
    next: nextSteps(node, place.root, holders),
  };
}

function summaryOf(node: Node): string {
  if (node.blockedBy.length > 0) {
    const names = node.blockedBy.join(', ');
    return node.condition === 'failed' ? `Did not start because of ${names}.` : `Waits for ${names}.`;
  }
  const hasFailedBelow = node.children.some(({ condition }) => condition === 'failed');
  if (node.condition === 'failed' && hasFailedBelow) return 'An object below failed.';
  if (node.message !== undefined) return withoutSteps(node.message);
  switch (node.condition) {
    case 'failed':
      return 'Failed; the status contains no reason.';
    case 'running':
      return node.children.some(({ condition }) => condition !== 'succeeded')
        ? 'Waits until the objects below have finished.'
        : 'The controller is reconciling the object.';
    case 'waiting':
      return isSuspended(node.object.metadata) ? 'Jobs are suspended.' : 'No job yet.';
    case 'succeeded':
      return 'Being deleted.';
  }
}

const timeOf = (text: string | undefined): number | undefined => {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
};

/** Since when: the wait, the error, the deletion or the job, in this order. */
function sinceOf({ condition, object }: Node): number | undefined {
  const { status, metadata } = object;
  const wait = status?.conditions?.find(({ type }) => type === conditionTypes.Waiting)?.lastTransitionTime;
  const error = status?.lastError?.lastTransitionTime;
  const { triggerTime, waitTime, finishedTime } = status?.transitionTimes ?? {};
  const times =
    condition === 'failed'
      ? [finishedTime, error]
      : [wait, waitTime, metadata.deletionTimestamp, triggerTime, metadata.creationTimestamp];
  return times.map(timeOf).find((time) => time !== undefined);
}

function holdersOf(node: Node, { siblings }: Place): readonly Holder[] {
  const { blockedBy } = node;
  const before = blockedBy.length === 0 ? [] : siblings.filter(({ title }) => blockedBy.includes(title));
  if (before.length > 0) return before.flatMap((sibling) => causesIn(sibling));
  if (node.children.length > 0 && node.condition !== 'succeeded') {
    const below = holdersBelow(node);
    if (below.length > 0) return below;
  }
  return foreignFinalizers(node).map((name) => ({ text: `finalizer ${name}` }));
}

/** The root causes of failures below a node; without failures, the children that are not ready and wait for no sibling. */
function holdersBelow(node: Node): readonly Holder[] {
  const causes = rootCauses(node).filter((cause) => cause !== node);
  if (causes.length > 0) return causes.map(holderOf);
  return node.children
    .filter(({ condition, blockedBy }) => condition !== 'succeeded' && blockedBy.length === 0)
    .map(holderOf);
}

/** The root causes in a tree; for one that only runs, its top. */
function causesIn(node: Node): readonly Holder[] {
  const causes = rootCauses(node);
  return (causes.length > 0 ? causes : [node]).map(holderOf);
}

const MAX_HOLDERS = 20;

const bounded = (holders: readonly Holder[]): readonly Holder[] =>
  holders.length <= MAX_HOLDERS
    ? holders
    : [...holders.slice(0, MAX_HOLDERS), { text: `and ${holders.length - MAX_HOLDERS} more` }];

const holderOf = (node: Node): Holder => ({
  id: idOf(node),
  text: `${node.kind} ${node.title}${node.phase ? `, ${node.phase}` : ''}`,
});

/** Finalizers of other controllers on an object that is being deleted. */
const foreignFinalizers = ({ object: { metadata } }: Node): readonly string[] =>
  isBeingDeleted(metadata) ? (metadata.finalizers ?? []).filter((name) => name !== FINALIZER) : [];

function nextSteps(node: Node, root: Node, holders: readonly Holder[]): readonly string[] {
  const command = (verb: string): string =>
    `espalier installations ${verb} ${root.name} -n ${root.namespace}`;
  const foreign = foreignFinalizers(node);
  const isBlocked = holders.some(({ id }) => id !== undefined);
  return [
    ...(isSuspended(node.object.metadata)
      ? [`To resume the jobs, remove the annotation ${annotations.suspended}.`]
      : []),
    ...(foreign.length > 0
      ? [`The deletion ends when the controllers of these finalizers remove them: ${foreign.join(', ')}.`]
      : []),
    ...(isBlocked && node.condition !== 'failed'
      ? ['The job continues when these objects have finished.']
      : []),
    ...(node.condition === 'failed' && isBlocked
      ? ['Fix the cause; the next job starts this object again.']
      : []),
    ...(node.condition === 'failed' ? [`After the fix, start a new job: ${command('reconcile')}`] : []),
    ...(node === root && node.condition === 'waiting' && !isSuspended(node.object.metadata)
      ? [`To start a job: ${command('reconcile')}`]
      : []),
    ...(node.condition === 'running' && !isBlocked
      ? [`To end the running job: ${command('interrupt')}`]
      : []),
  ];
}
