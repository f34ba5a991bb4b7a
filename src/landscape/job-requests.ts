/**
 * Who requested a job. The request is an annotation, which the start of the job removes; if jobs are recorded, the
 * same write stores who set it in another annotation, so that the record knows it when the job has ended, also after
 * a restart of this process.
 */
import { hasOperation, isRoot } from '../api/job.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { JobRequest } from '../api/kinds/jobrecord.ts';
import { RECONCILE_REASON_RETRY, annotations, operations } from '../api/labels.ts';
import { isObject, ownField } from '../lib/objects.ts';
import { dropManagedFields } from '../runtime/cache/transforms.ts';
import type { CacheOptions, View } from '../runtime/types.ts';

/**
 * A cache of installations that keeps the field manager of a requested job. All others are removed, as by default.
 * The same constant for all users, so that they share one cache.
 */
export const cacheWithRequests: CacheOptions<Installation> = { transform: keepRequester };

function keepRequester(installation: Installation): Installation {
  const { metadata } = installation;
  const isRequested = isRoot(metadata) && hasOperation(metadata, operations.reconcile);
  const manager = isRequested ? requesterIn(metadata.managedFields ?? []) : undefined;
  dropManagedFields(installation);
  if (manager !== undefined) metadata.managedFields = [{ manager }];
  return installation;
}

function requesterIn(entries: readonly unknown[]): string | undefined {
  const path = ['fieldsV1', 'f:metadata', 'f:annotations', `f:${annotations.operation}`];
  const entry = entries.find((one) => path.reduce<unknown>(ownField, one) !== undefined);
  const manager = ownField(entry, 'manager');
  return typeof manager === 'string' ? manager : undefined;
}

/** The value of the annotation that stores the request of a job. */
export function requestText({ metadata }: View<Installation>, jobID: string): string {
  const { [annotations.requestedBy]: predecessor, [annotations.reconcileReason]: reason } =
    metadata.annotations ?? {};
  const manager = ownField(metadata.managedFields?.[0], 'manager');
  const request: JobRequest = {
    reason: predecessor ? 'Predecessor' : reason === RECONCILE_REASON_RETRY ? 'Retry' : 'Requested',
    ...(typeof manager === 'string' && { manager }),
    ...(predecessor && { predecessor }),
  };
  return JSON.stringify({ jobID, ...request });
}

/** The stored request of a job; undefined if the annotation is about another job, or was written by a user. */
export function storedRequest({ metadata }: View<Installation>, jobID: string): JobRequest | undefined {
  const text = metadata.annotations?.[annotations.jobRequest];
  const value = text === undefined ? undefined : parsed(text);
  if (!isObject(value) || value['jobID'] !== jobID) return undefined;
  const { reason, manager, predecessor } = value;
  if (typeof reason !== 'string') return undefined;
  return {
    reason,
    ...(typeof manager === 'string' && { manager }),
    ...(typeof predecessor === 'string' && { predecessor }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
