/** Finalizers that hold a deletion although no controller removes them. Pure. */
import { isBeingDeleted } from '../../api/job.ts';
import { FINALIZER } from '../../api/labels.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { notPickedUpMessage } from '../../machine/status.ts';
import type { Obj, View } from '../../runtime/types.ts';
import type { TreeObject } from '../tree/tree.ts';
import { nameOf, objectsIn, type Findable, type Finding } from './findable.ts';
import { controllersProblem } from './leases.ts';

/** Removed by the garbage collector and the namespace controller of Kubernetes. */
const OF_KUBERNETES: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan', 'kubernetes']);

/** A controller needs some time for a deletion. */
const PATIENCE_MS = 60_000;
const PATIENCE_WITH_OTHERS_MS = 10 * 60_000;

export function unservedFinalizer(all: Findable): readonly Finding[] {
  const problem = controllersProblem(all);
  const ours = objectsIn(all).flatMap((one) =>
    isWaiting(one, all.now, PATIENCE_MS) && one.metadata.finalizers?.includes(FINALIZER)
      ? ownFinding(one, problem)
      : [],
  );
  const others = [...objectsIn(all), ...all.data].flatMap((one: View<Obj>) =>
    isWaiting(one, all.now, PATIENCE_WITH_OTHERS_MS) ? otherFindings(one) : [],
  );
  return [...ours, ...others];
}

const isWaiting = ({ metadata }: View<Obj>, now: number, patienceMs: number): boolean =>
  isBeingDeleted(metadata) && now - Date.parse(metadata.deletionTimestamp ?? '') > patienceMs;

const finding = (one: View<Obj>, more: Omit<Finding, 'check' | 'object'>): Finding => ({
  check: 'unserved-finalizer',
  object: nameOf(one),
  ...more,
});

/** An object of ours that its controller, or the deployer of its type, does not delete because it does not run. */
function ownFinding(one: TreeObject, problem: string | undefined): readonly Finding[] {
  const { name, namespace = '' } = one.metadata;
  const noDeployer = one.kind === 'DeployItem' ? notPickedUpMessage(one.status?.conditions) : undefined;
  const why = problem ?? noDeployer;
  if (why === undefined) return [];
  return [
    finding(one, {
      evidence: `it has the finalizer ${FINALIZER}, but ${why}`,
      risk: 'none; the command only shows the object. Start what is missing: removing the finalizer by hand would leave deployed objects on the targets',
      command: `kubectl get ${one.kind.toLowerCase()} ${name} -n ${namespace} -o yaml`,
    }),
  ];
}

function otherFindings(one: View<Obj>): readonly Finding[] {
  const { name, namespace = '', finalizers = [] } = one.metadata;
  return finalizers
    .filter((finalizer) => finalizer !== FINALIZER && !OF_KUBERNETES.has(finalizer))
    .map((finalizer) =>
      finding(one, {
        evidence: `it has the finalizer ${finalizer}, which neither Espalier nor Kubernetes removes${writerOf(one, finalizer)}`,
        risk: 'none; the command only shows the object. Removing the finalizer by hand skips the clean-up of its controller',
        command: `kubectl get ${(one.kind ?? '').toLowerCase()} ${name} -n ${namespace} -o yaml --show-managed-fields`,
      }),
    );
}

/** Who set a finalizer, from the managed fields. */
function writerOf({ metadata }: View<Obj>, finalizer: string): string {
  const entries: unknown = (metadata as { readonly managedFields?: unknown }).managedFields;
  const entry = (Array.isArray(entries) ? entries : []).find((one: unknown) => {
    const finalizers = ownField(ownField(ownField(one, 'fieldsV1'), 'f:metadata'), 'f:finalizers');
    return isObject(finalizers) && Object.hasOwn(finalizers, `v:"${finalizer}"`);
  }) as unknown;
  const [manager, time] = [ownField(entry, 'manager'), ownField(entry, 'time')];
  return typeof manager === 'string'
    ? `; "${manager}" set it${typeof time === 'string' ? ` at ${time}` : ''}`
    : '';
}
