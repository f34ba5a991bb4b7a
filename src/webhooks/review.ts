/** Computes the response to an AdmissionReview of an API server. Pure. */
import { defaultLimits, type InstallationLimits } from '../api/limits.ts';
import { readSmallDeployItems, UnreadableDeployItems, type ExecutionSpec } from '../api/kinds/execution.ts';
import {
  changeRefusal,
  admissionRefusal,
  type Refusal,
  type ValidatedResource,
} from '../api/validation/index.ts';
import { isObject, ownField } from '../lib/objects.ts';

/** The request body is not an AdmissionReview. */
export class InvalidReview extends Error {
  override readonly name = 'NoReview';
}

interface Answer {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason?: 'Forbidden'; readonly message: string };
}

/** The reviewed object, for the log. */
interface Reviewed {
  readonly answer: Answer;
  readonly object: string;
}

/** @throws NoReview */
export function review(
  resource: ValidatedResource,
  body: unknown,
  limits: InstallationLimits = defaultLimits,
): Reviewed {
  const request = ownField(body, 'request');
  const uid = ownField(request, 'uid');
  if (!isObject(request) || typeof uid !== 'string') throw new InvalidReview('expected an AdmissionReview');
  const { namespace = '', name = '' } = request;
  const status = refusal(resource, request, limits);
  return {
    answer: { uid, allowed: status === undefined, ...(status && { status }) },
    object: `${String(namespace)}/${String(name)}`,
  };
}

/** Checks compressed deploy items in a worker process. */
export type LargeItemsCheck = (namespace: string, packed: string) => Promise<Refusal | undefined>;

/** Like `review`, but passes large lists of deploy items to `check`. @throws NoReview */
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
  const reviewed = review(resource, { ...body, request: { ...request, object: rest } }, limits);
  if (!reviewed.answer.allowed) return reviewed;
  const namespace = ownField(request, 'namespace');
  const refused = await check(typeof namespace === 'string' ? namespace : '', packed);
  if (!refused) return reviewed;
  return { ...reviewed, answer: { ...reviewed.answer, allowed: false, status: statusOf(refused) } };
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
const isUnderDeletion = (object: unknown): boolean =>
  ownField(ownField(object, 'metadata'), 'deletionTimestamp') !== undefined;
