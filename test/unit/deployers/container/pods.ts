/** The pods of a container item, as the API server returns them. */
import { annotations, POD_FINALIZER } from '../../../../deployers/container/contract.ts';
import { defaultSettings } from '../../../../deployers/container/index.ts';
import { labelsOf } from '../../../../deployers/container/names.ts';
import type { Any } from '../fake-cluster.ts';

export const NAMESPACE = 'proj';
export const ITEM = { namespace: NAMESPACE, name: 'web' };
export const settings = { ...defaultSettings, namespace: NAMESPACE, isSidecar: true };

export const podOf = (
  name: string,
  more: { job?: string; phase?: string; item?: string; metadata?: object } = {},
): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: NAMESPACE,
    labels: labelsOf({ ...ITEM, name: more.item ?? 'web' }, 'd'),
    annotations: { [annotations.job]: more.job ?? 'j1' },
    finalizers: [POD_FINALIZER],
    ...more.metadata,
  },
  status: { phase: more.phase ?? 'Running' },
});
