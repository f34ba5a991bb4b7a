/** Reports the fields of a configuration that the deployer does not read: as a condition, and as an error if it is strict. */
import { conditionReasons, conditionTypes } from '../../src/api/conditions.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { changed } from '../../src/machine/status.ts';
import type { DeployerPlugin } from './deployer.ts';
import type { DeployItemStatus } from './kinds.ts';

/** Only so many are named: a hostile configuration has as many as fit into it. */
const MAX_DESCRIBED = 10;

/** @param unread a sentence for each field */
export function describeUnread(unread: readonly string[]): string {
  const more = unread.length - MAX_DESCRIBED;
  const shown = unread.slice(0, MAX_DESCRIBED).join('; ');
  return `in the configuration: ${shown}${more > 0 ? `; and ${String(more)} more` : ''}`;
}

/**
 * The status with the condition about these fields; without it if there are none.
 * @param unread undefined: unchanged
 */
export const withUnread = (
  status: DeployItemStatus,
  unread: readonly string[] | undefined,
  now: string,
): DeployItemStatus => {
  if (unread === undefined) return status;
  const type = conditionTypes.ValidateConfiguration;
  if (unread.length === 0) return changed(status, { settled: [type] }, now);
  const reason = conditionReasons.UnknownFields;
  const condition = { type, status: 'False', reason, message: describeUnread(unread) } as const;
  return changed(status, { conditions: [condition] }, now);
};

/** The problem that these fields are for a strict deployer. */
export const unreadProblem = (
  { initOperation = 'Init', decodeReason = 'Parse' }: Pick<DeployerPlugin, 'initOperation' | 'decodeReason'>,
  unread: readonly string[],
): Problem => ({
  operation: initOperation,
  reason: `${decodeReason}ProviderConfiguration`,
  message: `the configuration has unknown fields, which strict: true refuses; ${describeUnread(unread)}`,
  codes: ['ERR_CONFIGURATION_PROBLEM'],
});
