/**
 * What holds up a job that is not finished: an error that an object below retries, a wait that has lasted a while, or a deploy
 * item without a deployer. Every object above shows the message of the innermost object word for word, so messages do not
 * grow with the depth of the tree, and nothing is written while the message stays the same. Pure.
 */
import {
  conditionReasons,
  conditionTypes,
  isObstacleReason,
  obstacleReasons,
  type ObstacleReason,
} from '../api/conditions.ts';
import { isFinished } from '../api/job.ts';
import type { LastError } from '../api/shared.ts';
import { smallest } from '../lib/lists.ts';
import type { Obj, View } from '../runtime/types.ts';
import { causesText } from './causes.ts';
import { named, type Obstacle } from './decision.ts';
import { statusOf, type Status } from './status.ts';

/** Most errors pass with the first retry; most waits end before, such as those for a new pod. */
const SHOWN_ABOVE_AFTER_MS: Readonly<Record<ObstacleReason, number>> = {
  NotTakenUp: 0,
  ReconcileError: 2_000,
  InProgress: 15_000,
};

/** An obstacle, and since when it exists, if that is known. */
interface Found extends Obstacle {
  readonly since?: string;
}

/** The error that an unfinished job retries, or what its deployer waits for. */
export function problemOf({ lastError, conditions = [] }: Status): Found | undefined {
  const { message, codes = [], lastTransitionTime: since } = (lastError ?? {}) as Partial<View<LastError>>;
  const isWait = conditions.some(({ type }) => type === conditionTypes.Waiting);
  if (!message || isWait) return undefined;
  const at = since === undefined ? {} : { since };
  if (codes.includes('ERR_UNFINISHED')) return { reason: conditionReasons.InProgress, message, ...at };
  if (codes.includes('ERR_FOR_INFO_ONLY')) return undefined;
  return { reason: conditionReasons.ReconcileError, message, ...at };
}

/** What the condition `Waiting` says about an object below. */
export function obstacleBelow({ conditions = [] }: Status): Obstacle | undefined {
  const waiting = conditions.find(({ type }) => type === conditionTypes.Waiting);
  return waiting && isObstacleReason(waiting.reason)
    ? { reason: waiting.reason, message: waiting.message }
    : undefined;
}

/** The message about a deploy item that no deployer picks up, if the job waits for one. */
export const notPickedUpMessage = (status: Status = {}): string | undefined => {
  const below = obstacleBelow(status);
  return below?.reason === conditionReasons.NotTakenUp ? below.message : undefined;
};

/** The obstacle that the objects above `object` have to show, now or when it has lasted long enough. */
export function obstacleAt(object: View<Obj>): Found | undefined {
  const status = statusOf<Status>(object);
  if (isFinished({ status })) return undefined;
  const own = problemOf(status);
  return own
    ? { ...own, message: causesText([{ text: `${named(object)}: ${own.message}` }]) }
    : obstacleBelow(status);
}

interface Shown {
  readonly obstacle?: Obstacle;
  /** When another obstacle has lasted long enough. */
  readonly requeueAfterMs?: number;
}

/**
 * The obstacle to show for a job that waits for these objects. One that is already shown stays until there are none with its
 * reason, or a more serious one.
 * @param shown the status of the waiting object
 * @param now RFC 3339
 */
export function obstacleAmong(objects: readonly View<Obj>[], shown: Status, now: string): Shown {
  const found = objects.flatMap((object) => obstacleAt(object) ?? []);
  const leftMs = ({ reason, since }: Found): number =>
    since === undefined ? 0 : Date.parse(since) + SHOWN_ABOVE_AFTER_MS[reason] - Date.parse(now);
  const due = found.filter((one) => !(leftMs(one) > 0));
  const requeueAfterMs = smallest(found.map(leftMs).filter((ms) => ms > 0));
  const reason = obstacleReasons.find((one) => due.some((other) => other.reason === one));
  const candidates = due.filter((one) => one.reason === reason);
  const before = obstacleBelow(shown)?.message;
  const chosen = candidates.find(({ message }) => message === before) ?? candidates[0];
  return {
    ...(chosen && { obstacle: { reason: chosen.reason, message: chosen.message } }),
    ...(requeueAfterMs !== Infinity && { requeueAfterMs }),
  };
}
