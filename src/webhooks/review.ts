/** Computes the response to an AdmissionReview of an API server. Pure. */
import { defaultLimits, type InstallationLimits } from '../api/limits.ts';
import { readSmallDeployItems, UnreadableDeployItems, type ExecutionSpec } from '../api/kinds/execution.ts';
import {
  changeRefusal,
  admissionRefusal,
  type Refusal,
  type ValidatedResource,
} from '../api/validation/index.ts';
import { isObject, ownField, type Fields } from '../lib/objects.ts';

/** The request body is not an AdmissionReview. */
export class InvalidReview extends Error {
  override readonly name = 'NoReview';
  /** Of the response. */
  readonly statusCode = 400;
}

interface Answer {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: {
    readonly code: number;
    readonly reason?: 'Forbidden' | 'ServiceUnavailable';
    readonly message: string;
  };
}

/** The reviewed object, for the log. */
export interface Reviewed {
  readonly answer: Answer;
  readonly object: string;
}

/** @throws InvalidReview */
export function review(
  resource: ValidatedResource,
  body: unknown,
  limits: InstallationLimits = defaultLimits,
): Reviewed {
  const request = requestIn(body);
  return reviewed(request, refusal(resource, request, limits));
}

/** @throws InvalidReview */
export function requestIn(body: unknown): Fields {
  const request = ownField(body, 'request');
  if (!isObject(request) || typeof request['uid'] !== 'string')
    throw new InvalidReview('expected an AdmissionReview');
  return request;
}

/** The answer to a request; without a status, it is allowed. */
export const reviewed = (request: Fields, status: Answer['status'] | undefined): Reviewed => ({
  answer: { uid: String(request['uid']), allowed: status === undefined, ...(status && { status }) },
  object: `${textOf(request['namespace'])}/${textOf(request['name'])}`,
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Checks compressed deploy items in a worker process. */
export type LargeItemsCheck = (namespace: string, packed: string) => Promise<Refusal | undefined>;

/** Like `review`, but passes large lists of deploy items to `check`. @throws InvalidReview */
export async function reviewLargeItems(
  resource: ValidatedResource,
  body: unknown,
  limits: InstallationLimits | undefined,
  check: LargeItemsCheck,
): Promise<Reviewed> {
  const request = ownField(body, 'request');
  const object = ownField(request, 'object');
  const spec = ownField(object, 'spec');
  const packed = ownField(spec, 'deployItemsCompressed');
  const isAllThere = isObject(body) && isObject(request) && isObject(object) && isObject(spec);
  const isPacked = resource === 'executions' && isAllThere && typeof packed === 'string';
  if (!isPacked || isUnderDeletion(object) || !isLarge({ deployItemsCompressed: packed }, limits))
    return review(resource, body, limits);
  const rest = { ...object, spec: { ...spec, deployItemsCompressed: undefined } };
  const first = review(resource, { ...body, request: { ...request, object: rest } }, limits);
  if (!first.answer.allowed) return first;
  const namespace = ownField(request, 'namespace');
  const refused = await check(typeof namespace === 'string' ? namespace : '', packed);
  return refused ? reviewed(request, statusOf(refused)) : first;
}

function isLarge(
  spec: Pick<ExecutionSpec, 'deployItemsCompressed'>,
  limits: InstallationLimits | undefined,
): boolean {
  try {
    return readSmallDeployItems(spec, limits) === undefined;
  } catch (error) {
    if (error instanceof UnreadableDeployItems) return false;
    throw error;
  }
}

/** The body of the response. */
export const reviewBody = (answer: Answer): object => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: answer,
});

function refusal(
  resource: ValidatedResource,
  { operation, object, oldObject }: Readonly<Record<string, unknown>>,
  limits: InstallationLimits,
): Answer['status'] | undefined {
  if (isUnderDeletion(object)) return undefined;
  const found = admissionRefusal(resource, object, limits);
  if (found) return statusOf(found);
  const change = operation === 'UPDATE' ? changeRefusal(resource, oldObject, object) : undefined;
  return change === undefined ? undefined : { code: 403, message: change };
}

const statusOf = ({ kind, message }: Refusal): NonNullable<Answer['status']> =>
  kind === 'unreadable' ? { code: 400, message } : { code: 403, reason: 'Forbidden', message };

/** An object under deletion is not validated, because its finalizers must be removable even if it is invalid. */
export const isUnderDeletion = (object: unknown): boolean =>
  ownField(ownField(object, 'metadata'), 'deletionTimestamp') !== undefined;
