/** From the options of a configuration to those of the helm program. Pure. */
import type { ActionOptions } from './config.ts';

/** @param major of helm: some options were renamed in 4 */
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

/** Helm's own time when a job has no limit. */
const UNLIMITED_MS = 24 * 3_600_000;
/** Shares of the time that is left: helm is to end by itself, and to say what it was waiting for. */
const PLAIN = 0.9;
/** An installation that fails is taken back, which is quick. */
const ATOMIC_INSTALL = 0.75;
/** A roll-back may take the same time again. */
const ATOMIC_UPGRADE = 0.5;

/**
 * What is left of the job, or less where the user says so.
 * @param leftMs of the job; Infinity without a limit
 */
export function timeoutFlag(
  { atomic, timeoutMs }: ActionOptions,
  leftMs: number,
  isUpgrade = false,
): readonly string[] {
  const usable = Number.isFinite(leftMs) ? leftMs : UNLIMITED_MS;
  const share = !atomic ? PLAIN : isUpgrade ? ATOMIC_UPGRADE : ATOMIC_INSTALL;
  const most = Math.max(1, Math.floor(usable * share));
  return ['--timeout', `${String(Math.min(most, Math.floor(timeoutMs ?? most)))}ms`];
}
