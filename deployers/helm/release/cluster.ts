/** What the actions of a release share: the target, the time that is left, and errors in Helm's words. */
import type { Outlook } from '../../../src/lib/outlook.ts';
import type { Mask } from '../../../src/lib/masking.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { ApiError } from '../../../src/runtime/errors.ts';
import type { ChartRunner } from '../../../src/templating/helm/work.ts';
import { messageOf } from '../../sdk/errors.ts';
import type { KubeAccess } from '../../sdk/access.ts';

/** The target of a release. */
export interface ReleaseTarget {
  readonly access: KubeAccess;
  /** Name of the release. */
  readonly name: string;
  /** Namespace of the release, and of objects without one. */
  readonly namespace: string;
  /** Reads records, which users can craft. */
  readonly charts: ChartRunner;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Masks the values of the release in what the target says about hooks. */
  readonly mask: Mask;
  /** Reports an error that does not stop the action. */
  readonly warn: (message: string, error: unknown) => void;
}

/** An action failed; the message has Helm's words, because it is stored in the record, which other tools show. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
  /** Undefined: the cause decides. */
  readonly outlook: Outlook | undefined = undefined;
}

/** The time to wait for objects is over. */
export class WaitExpired extends ReleaseError {}

/** Whether an action has failed because the time to wait was over. */
export function hasExpired(error: unknown): boolean {
  let at = error;
  while (at instanceof Error && !(at instanceof WaitExpired)) at = at.cause;
  return at instanceof WaitExpired;
}

/** A hook has failed: its next run may succeed. */
export class HookFailed extends ReleaseError {
  override readonly outlook = 'unknown';
}

/** Hooks of an event have failed. What their pods say is not part of the message, which is stored in the record. */
export class HooksFailed extends ReleaseError {
  readonly pods: readonly string[];
  constructor(errors: readonly unknown[], pods: readonly string[]) {
    super(listed(errors), { cause: errors[0] });
    this.pods = pods;
  }
}

/** What the pods of failed hooks say. */
export function podsIn(error: unknown): readonly string[] {
  let at = error;
  while (at instanceof Error && !(at instanceof HooksFailed)) at = at.cause;
  return at instanceof HooksFailed ? at.pods : [];
}

/** What the server said, without the request. */
export const said = (error: unknown): string =>
  error instanceof ApiError ? (error.serverMessage ?? error.message) : messageOf(error);

/** The same error below a message; an aborted action stays aborted. */
export function because(message: string, error: unknown, { signal }: Pick<ReleaseTarget, 'signal'>): Error {
  signal.throwIfAborted();
  return new ReleaseError(`${message}: ${said(error)}`, { cause: error });
}

/** The message of several errors. */
export const listed = (errors: readonly unknown[]): string =>
  `${String(errors.length)} error${errors.length === 1 ? '' : 's'} occurred:\n${errors
    .map((error) => `\t* ${said(error)}\n`)
    .join('')}\n`;

/** A time in a record. */
export const recordTime = (clock: Clock): string =>
  new Date(clock.wall()).toISOString().replace(/\.?0*Z$/, 'Z');
