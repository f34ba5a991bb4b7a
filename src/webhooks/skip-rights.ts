/**
 * Whether a user may skip the validation of an object: members of `system:masters`, and users with the permission for
 * the verb `skip-validation`, which only this check knows.
 */
import { GROUP } from '../api/labels.ts';
import type { ValidatedResource } from '../api/validation/index.ts';
import type { Clock } from '../lib/clock.ts';
import { isObject, ownField, type Fields } from '../lib/objects.ts';
import { Forbidden } from '../runtime/errors.ts';
import type { Client } from '../runtime/types.ts';

export const SKIP_VERB = 'skip-validation';

const MASTERS = 'system:masters';
const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** A change of roles has an effect after this time. */
export const REMEMBER_MS = 10_000;
const MAX_REMEMBERED = 1_000;
/** API servers wait 15 s for the webhook. */
const TIMEOUT_MS = 5_000;

/** The object whose validation a user wants to skip. */
export interface SkipQuestion {
  readonly resource: ValidatedResource;
  readonly namespace: string;
  /** Empty if the API server generates it. */
  readonly name: string;
}

/** @param user `userInfo` of the request. @throws SkipRightUnknown if the API server does not answer the question */
export type MaySkip = (user: unknown, question: SkipQuestion) => Promise<boolean>;

/** Whether the user may skip the validation cannot be determined; the message says why. */
export class SkipRightUnknown extends Error {
  override readonly name = 'SkipRightUnknown';
}

interface Remembered {
  readonly allowed: Promise<boolean>;
  readonly until: number;
}

/** Asks the API server, and remembers the answer for ten seconds. */
export function skipRights(ports: { readonly client: Pick<Client, 'raw'>; readonly clock: Clock }): MaySkip {
  const { clock } = ports;
  const remembered = new Map<string, Remembered>();
  return async (user, question) => {
    const { groups, ...subject } = subjectOf(user);
    if (groups.includes(MASTERS)) return true;
    const spec = { ...subject, groups, resourceAttributes: attributesOf(question) };
    const key = JSON.stringify(spec);
    const known = remembered.get(key);
    if (known && known.until > clock.now()) return known.allowed;
    const allowed = ask(spec, ports);
    remembered.delete(key);
    remembered.set(key, { allowed, until: clock.now() + REMEMBER_MS });
    for (const oldest of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(oldest);
    }
    try {
      return await allowed;
    } catch (error) {
      if (remembered.get(key)?.allowed === allowed) remembered.delete(key);
      throw error;
    }
  };
}

/** The user as in the `spec` of a SubjectAccessReview. */
function subjectOf(user: unknown): Fields & { readonly groups: readonly string[] } {
  const [username, uid, groups, extra] = ['username', 'uid', 'groups', 'extra'].map((key) =>
    ownField(user, key),
  );
  return {
    user: typeof username === 'string' ? username : '',
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    ...(isObject(extra) && { extra }),
  };
}

const attributesOf = ({ resource, namespace, name }: SkipQuestion): object => ({
  group: GROUP,
  resource,
  verb: SKIP_VERB,
  namespace,
  ...(name !== '' && { name }),
});

async function ask(
  spec: object,
  { client, clock }: { readonly client: Pick<Client, 'raw'>; readonly clock: Clock },
): Promise<boolean> {
  const limit = new AbortController();
  const cancel = clock.at(clock.now() + TIMEOUT_MS, () => {
    limit.abort(new Error(`the API server did not answer within ${String(TIMEOUT_MS / 1000)} s`));
  });
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  try {
    const status = ownField(await client.raw('POST', PATH, review, limit.signal), 'status');
    const allowed = ownField(status, 'allowed');
    if (typeof allowed === 'boolean') return allowed;
    throw new Error('the API server answered without a decision');
  } catch (error) {
    const { message } = (limit.signal.aborted ? limit.signal.reason : error) as Error;
    const remedy =
      error instanceof Forbidden
        ? '; grant the service account of the webhooks the permission to create subjectaccessreviews.authorization.k8s.io'
        : '';
    throw new SkipRightUnknown(`${message}${remedy}`, { cause: error });
  } finally {
    cancel();
  }
}
