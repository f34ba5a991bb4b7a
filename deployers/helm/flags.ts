/** Converts the options of a configuration to the time for an action, and to flags of the helm program. Pure. */
import type { ActionOptions } from './config.ts';

/** @param major major version of helm: version 4 renamed some options */
export function actionFlags(
  { atomic, force, wait, skipSchemaValidation, takeOwnership }: ActionOptions,
  major: number,
): readonly string[] {
  const isNew = major >= 4;
  return [
    ...(atomic ? [isNew ? '--rollback-on-failure' : '--atomic'] : []),
    ...(wait ? ['--wait'] : []),
    ...(force ? [isNew ? '--force-replace' : '--force'] : []),
    ...(skipSchemaValidation ? ['--skip-schema-validation'] : []),
    ...(takeOwnership ? ['--take-ownership'] : []),
  ];
}

/** Timeout for an action if the job has no time limit. */
const UNLIMITED_MS = 24 * 3_600_000;
/** An action gets this share of the remaining time, so that it ends by itself and reports what it waited for. */
const PLAIN_SHARE = 0.9;
/** A failed installation is rolled back, which is quick. */
const ATOMIC_INSTALL_SHARE = 0.75;
/** A rollback may take as long as the upgrade. */
const ATOMIC_UPGRADE_SHARE = 0.5;

/**
 * Milliseconds for an action: the remaining time of the job, or less if the configuration says so.
 * @param leftMs remaining time of the job; Infinity without a limit
 */
export function timeoutFor({ atomic, timeoutMs }: ActionOptions, leftMs: number, isUpgrade = false): number {
  const usable = Number.isFinite(leftMs) ? leftMs : UNLIMITED_MS;
  const share = !atomic ? PLAIN_SHARE : isUpgrade ? ATOMIC_UPGRADE_SHARE : ATOMIC_INSTALL_SHARE;
  const most = Math.max(1, Math.floor(usable * share));
  return Math.min(most, Math.floor(timeoutMs ?? most));
}

export const timeoutFlag = (timeoutMs: number): readonly string[] => ['--timeout', `${String(timeoutMs)}ms`];
