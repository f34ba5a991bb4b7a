/**
 * Reviews objects with the label that skips validation. It has an effect only for users with the right to skip it.
 * Others cannot set the label, and what they change later in such an object is validated. Changes of its metadata are
 * not: controllers, which have no such right, add finalizers and remove annotations.
 */
import { GROUP, labels, TRUE } from '../api/labels.ts';
import { skipsValidation, type ValidatedResource } from '../api/validation/index.ts';
import { equal } from '../lib/json.ts';
import { ownField, type Fields } from '../lib/objects.ts';
import type { Logger } from '../observability/log.ts';
import { isUnderDeletion, requestIn, reviewed, type Reviewed } from './review.ts';
import { SKIP_VERB, SkipRightUnknown, type MaySkip, type SkipQuestion } from './skip-rights.ts';

/** Reviews a request. @throws InvalidReview */
export type Check = (resource: ValidatedResource, body: unknown) => Reviewed | Promise<Reviewed>;

interface SkippingPorts {
  readonly maySkip: MaySkip;
  /** Validates the object, whatever its labels. */
  readonly check: Check;
  readonly log: Logger;
}

/** @throws InvalidReview */
export async function reviewLabelled(
  resource: ValidatedResource,
  body: unknown,
  { maySkip, check, log }: SkippingPorts,
): Promise<Reviewed> {
  const request = requestIn(body);
  const { object, oldObject, userInfo } = request;
  if (!skipsValidation(object) || isUnderDeletion(object)) return check(resource, body);
  const isOld = skipsValidation(oldObject);
  if (isOld && equal(ownField(object, 'spec'), ownField(oldObject, 'spec')))
    return reviewed(request, undefined);

  const question = questionOf(resource, request);
  const user = String(ownField(userInfo, 'username'));
  try {
    if (await maySkip(userInfo, question)) {
      log.info({ ...question, user }, 'validation skipped');
      return reviewed(request, undefined);
    }
  } catch (error) {
    if (!(error instanceof SkipRightUnknown)) throw error;
    log.warn({ ...question, user, err: error }, 'checking the right to skip validation failed');
    const message = `cannot determine whether user "${user}" may use the label "${LABEL}": ${error.message}; retry later, or remove the label`;
    return reviewed(request, { code: 503, reason: 'ServiceUnavailable', message });
  }
  if (!isOld) return reviewed(request, { code: 403, reason: 'Forbidden', message: denial(question, user) });
  const { answer } = await check(resource, body);
  const { status } = answer;
  return reviewed(request, status && { ...status, message: `${status.message}; ${denial(question, user)}` });
}

const LABEL = `${labels.skipValidation}: ${TRUE}`;

function questionOf(resource: ValidatedResource, { namespace, name }: Fields): SkipQuestion {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { resource, namespace: text(namespace), name: text(name) };
}

const denial = ({ resource, namespace }: SkipQuestion, user: string): string =>
  `the label "${LABEL}" has an effect only for users with permission for the verb ${SKIP_VERB} on ${resource}.${GROUP} in namespace "${namespace}", which user "${user}" does not have; remove the label, or ask an administrator to apply the object or to grant you this verb`;
