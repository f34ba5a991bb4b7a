/** The objects that the default readiness check reads. Pure. */
import { numberAt } from './fields.ts';
import type { KubeObject, ResourceRef } from '../manifests/model.ts';

export interface CheckedRef {
  readonly ref: ResourceRef;
  /** For a job that is deleted this number of seconds after its end. */
  readonly secondsAfterEnd?: number;
}

/** @param object the object as it is applied, or as the cluster returned it */
export function checkedRef(ref: ResourceRef, object: KubeObject | undefined): CheckedRef {
  const seconds = ref.kind === 'Job' ? numberAt(object, ['spec', 'ttlSecondsAfterFinished'], -1) : -1;
  return { ref, ...(seconds >= 0 && { secondsAfterEnd: seconds }) };
}
