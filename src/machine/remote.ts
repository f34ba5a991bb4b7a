/**
 * How long a job retries while a server that it needs is unavailable: a registry, or a cluster that issues kubeconfigs. A
 * condition stores when that began, so a restart of the controllers does not restart the time. Pure.
 */
import { conditionReasons, conditionTypes } from '../api/conditions.ts';
import { connectionFault } from '../lib/connection.ts';
import { formatDuration } from '../lib/duration.ts';
import type { PhaseCondition, Problem } from './decision.ts';
import type { Status } from './status.ts';

/** The default of `limits.remoteRetryTimeout`. */
export const DEFAULT_REMOTE_RETRY_MS = 10 * 60_000;
/** A host name that DNS does not find for this long is taken for misspelt, not for a hiccup of DNS. */
export const NAME_NOT_FOUND_MS = 60_000;

/** Classifies the error of a request to an external server. */
export const remoteTroubleOf = (error: unknown): NonNullable<Problem['remote']> =>
  connectionFault(error) === 'name' ? 'NameNotFound' : 'ServerUnavailable';

type RemoteJudgement =
  /** Retry; the condition stores since when. */
  | { readonly isOver: false; readonly condition: PhaseCondition }
  | { readonly isOver: true; readonly problem: Problem };

/**
 * Decides whether the time for retries is over.
 * @param problem with `remote`
 * @param now RFC 3339
 * @param limitMs over all attempts; Infinity: no limit
 */
export function judgeRemote(
  { conditions = [] }: Pick<Status, 'conditions'>,
  problem: Problem & { readonly remote: NonNullable<Problem['remote']> },
  now: string,
  limitMs: number,
): RemoteJudgement {
  const { remote, ...rest } = problem;
  const known = conditions.find(({ type }) => type === conditionTypes.RemoteUnavailable);
  const tried = (since: string | undefined): number =>
    since === undefined ? 0 : Date.parse(now) - Date.parse(since);
  // The message stays the same, so the last update of the condition is when its reason changed.
  const isName = remote === 'NameNotFound' && known?.reason === conditionReasons.NameNotFound;
  const isNameOver = isName && tried(known.lastUpdateTime) >= Math.min(NAME_NOT_FOUND_MS, limitMs);
  const isOver = isNameOver || tried(known?.lastTransitionTime) >= limitMs;
  if (isOver)
    return { isOver, problem: { ...rest, message: `${rest.message}; ${gaveUp(isNameOver, limitMs)}` } };
  const { RemoteUnavailable: type } = conditionTypes;
  return { isOver, condition: { type, status: 'True', reason: remote, message: MESSAGE } };
}

const MESSAGE =
  'a server that the job needs is unavailable; the job retries, and lastError names the server and the reason';

const gaveUp = (isName: boolean, limitMs: number): string =>
  isName
    ? `the name has not been found for ${formatDuration(Math.min(NAME_NOT_FOUND_MS, limitMs))}: check how it is spelt, then start another job`
    : `gave up after ${formatDuration(limitMs)} (limits.remoteRetryTimeout in the configuration); start another job when the server is back`;
