/** Finalizers of other programs that hold a deletion. Pure. */
import { isBeingDeleted } from '../../api/job.ts';
import { FINALIZER } from '../../api/labels.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import type { Obj, View } from '../../runtime/types.ts';
import { nameOf, objectsIn, type Findable, type Finding } from './findable.ts';

/** Removed by the garbage collector and the namespace controller of Kubernetes. */
const OF_KUBERNETES: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan', 'kubernetes']);

/** Other programs need some time, too. */
const PATIENCE_MS = 10 * 60_000;

export const unservedFinalizer = (all: Findable): readonly Finding[] =>
  [...objectsIn(all), ...all.data].flatMap((one: View<Obj>) =>
    isWaiting(one, all.now) ? otherFindings(one) : [],
  );

const isWaiting = ({ metadata }: View<Obj>, now: number): boolean =>
  isBeingDeleted(metadata) && now - Date.parse(metadata.deletionTimestamp ?? '') > PATIENCE_MS;

function otherFindings(one: View<Obj>): readonly Finding[] {
  const { name, namespace = '', finalizers = [] } = one.metadata;
  return finalizers
    .filter((finalizer) => finalizer !== FINALIZER && !OF_KUBERNETES.has(finalizer))
    .map((finalizer) => ({
      check: 'unserved-finalizer',
      object: nameOf(one),
      evidence: `it has the finalizer ${finalizer}, which neither Espalier nor Kubernetes removes${writerOf(one, finalizer)}`,
      risk: 'none; the command only shows the object. Removing the finalizer by hand skips the clean-up of its controller',
      command: `kubectl get ${(one.kind ?? '').toLowerCase()} ${name} -n ${namespace} -o yaml --show-managed-fields`,
    }));
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
