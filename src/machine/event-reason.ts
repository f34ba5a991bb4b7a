/** The reasons of events about problems: one UpperCamelCase word that says what happened. Pure. */
import { table } from '../lib/objects.ts';

/**
 * Upstream's reasons in `lastError` name the check that failed as if it had succeeded, or the function that returned the
 * error. A list of events shows only the reason, so these say what happened.
 */
const happened: Readonly<Record<string, string>> = table({
  AllPredecessorsFinished: 'PredecessorsUnfinished',
  AllPredecessorsSucceeded: 'PredecessorFailed',
  CheckImportsHash: 'ImportsChanged',
  CheckObservedGeneration: 'ChangedDuringJob',
  ImportsSatisfied: 'ImportsNotSatisfied',
  'children failed': 'ChildrenFailed',
  deleteRelease: 'UninstallFailed',
  ensureTargetAccess: 'TargetAccessFailed',
  handlePhaseDeleting: 'DeletionFailed',
  handlePhaseProgressing: 'DeployItemsFailed',
  installRelease: 'InstallFailed',
  upgradeRelease: 'UpgradeFailed',
});

/** API servers refuse longer reasons. */
const MAX_REASON = 128;

/**
 * All other reasons are kept, since programs may know them from upstream. Those of foreign deployers become one word:
 * `not ready` → `NotReady`.
 */
export function eventReason(reason: string): string {
  if (Object.hasOwn(happened, reason)) return happened[reason] ?? reason;
  const words = reason.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return joined.slice(0, MAX_REASON) || 'Failed';
}
