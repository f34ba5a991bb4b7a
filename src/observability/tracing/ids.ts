/**
 * Ids of traces and spans, derived from a job: a user who knows the id of a job finds its trace, and the parts of a trace that
 * different processes record fit together without any communication.
 */
import { createHash } from 'node:crypto';

/** An object that takes part in a job. */
export interface Place {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;

/** 32 hexadecimal digits: the job id without its hyphens. For an id that is not a UUID: digits of its SHA-256 hash. */
export function traceIdOf(jobID: string): string {
  const digits = jobID.replaceAll('-', '').toLowerCase();
  return TRACE_ID.test(digits) ? digits : hashOf(jobID, 32);
}

/**
 * 16 hexadecimal digits: the start of the SHA-256 hash of `JOB/KIND/NAMESPACE/NAME`, and of `/PART` for a part of the
 * job. The name instead of the uid, so that the id is known before the object is created.
 */
export const spanIdOf = (jobID: string, { kind, namespace, name }: Place, part?: string): string =>
  hashOf([jobID, kind, namespace, name, ...(part === undefined ? [] : [part])].join('/'), 16);

/** The value of a `traceparent` header. */
export const traceparentOf = (traceId: string, spanId: string, isSampled: boolean): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

const hashOf = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);
