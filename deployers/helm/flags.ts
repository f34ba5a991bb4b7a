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
/** Between helm's time and the end of the job, so that helm ends by itself and says what it was waiting for. */
const MARGIN_MS = 500;

/**
 * What is left of the job, or less where the user says so. An atomic action gets half: what it rolls back may take the
 * same time again.
 * @param leftMs of the job; Infinity without a limit
 */
export function timeoutFlag({ atomic, timeoutMs }: ActionOptions, leftMs: number): readonly string[] {
  const usable = Number.isFinite(leftMs) ? leftMs : UNLIMITED_MS;
  const most = Math.max(1, Math.floor(atomic ? usable / 2 : usable - MARGIN_MS));
  return ['--timeout', `${String(Math.min(most, Math.floor(timeoutMs ?? most)))}ms`];
}
