/**
 * A PersistentVolumeClaim is ready if it is bound. One that has lost its volume is not bound again. A claim whose storage
 * class waits for the first pod counts as ready, because that pod may belong to a deploy item that waits for this one.
 */
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import type { KubeObject } from '../manifests/model.ts';
import { fieldAt } from './fields.ts';
import { failed, notReady, ready, type Verdict } from './verdict.ts';

export function claim(object: unknown): Verdict {
  const phase = fieldAt(object, 'status', 'phase');
  if (phase === 'Bound') return ready;
  if (phase === 'Lost') return failed('the claim has lost its volume');
  return notReady('the claim is not bound to a volume');
}

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

/** Whether the object is a claim that is bound when the first pod uses it, and no pod does yet. */
export async function waitsForConsumer(
  object: KubeObject,
  { access, signal }: { readonly access: KubeAccess; readonly signal: AbortSignal },
): Promise<boolean> {
  if (object.kind !== 'PersistentVolumeClaim' || object.apiVersion !== 'v1') return false;
  const name = fieldAt(object, 'spec', 'storageClassName');
  const isPending = fieldAt(object, 'status', 'phase') === 'Pending';
  if (!isPending || typeof name !== 'string' || name === '') return false;
  if (object.metadata.annotations?.[SELECTED_NODE] !== undefined) return false;
  try {
    const kind = await access.kindOf('storage.k8s.io/v1', 'StorageClass', signal);
    const storageClass = await getIfThere(access.client, kind, name, signal);
    return fieldAt(storageClass, 'volumeBindingMode') === 'WaitForFirstConsumer';
  } catch (error) {
    if (signal.aborted) throw error;
    return false; // The target may not permit to read storage classes.
  }
}
