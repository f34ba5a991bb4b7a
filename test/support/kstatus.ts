/**
 * How kstatus judges an object of a kind that it does not know, written down from its documentation. `kubectl wait`,
 * Flux and others follow these rules.
 */
import type { Obj, View } from '../../src/runtime/types.ts';

export type KStatus = 'Terminating' | 'InProgress' | 'Failed' | 'Current';

interface Judged {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export function kstatusOf(object: View<Obj>): KStatus {
  const { metadata, status = {} } = object as Judged;
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (status.observedGeneration !== undefined && status.observedGeneration !== metadata.generation)
    return 'InProgress';
  const is = (type: string): string | undefined =>
    status.conditions?.find((condition) => condition.type === type)?.status;
  if (is('Reconciling') === 'True') return 'InProgress';
  if (is('Stalled') === 'True') return 'Failed';
  if (is('Ready') === 'False' || is('Ready') === 'Unknown') return 'InProgress';
  return 'Current';
}
