/** From the question of an API server, an AdmissionReview, to the answer. Pure. */
import { defaultLimits, type InstallationLimits } from '../api/limits.ts';
import { changeRefusal, refusalAtTheDoor, type ValidatedResource } from '../api/validation/index.ts';
import { isObject, ownField } from '../lib/objects.ts';

/** What was sent is no question. */
export class NoReview extends Error {
  override readonly name = 'NoReview';
}

export interface Answer {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason?: 'Forbidden'; readonly message: string };
}

/** What the question was about, for the log. */
export interface Reviewed {
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
  if (!isObject(request) || typeof uid !== 'string') throw new NoReview('expected an AdmissionReview');
  const { namespace = '', name = '' } = request;
  const status = refusal(resource, request, limits);
  return {
    answer: { uid, allowed: status === undefined, ...(status && { status }) },
    object: `${String(namespace)}/${String(name)}`,
  };
}

/** The body to send. */
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
  if (isGoing(object)) return undefined;
  const found = refusalAtTheDoor(resource, object, limits);
  if (found?.kind === 'unreadable') return { code: 400, message: found.message };
  if (found) return { code: 403, reason: 'Forbidden', message: found.message };
  const change = operation === 'UPDATE' ? changeRefusal(resource, oldObject, object) : undefined;
  return change === undefined ? undefined : { code: 403, message: change };
}

/** What is wrong was wrong before; whoever takes the finalizer off must not be held up. */
const isGoing = (object: unknown): boolean =>
  ownField(ownField(object, 'metadata'), 'deletionTimestamp') !== undefined;
