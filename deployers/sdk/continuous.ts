/**
 * Continuous reconcile: a finished item runs again with the same spec at configured times, which repairs drift on the
 * target. The times are based on `status.lastReconcileTime`, in whole seconds, UTC.
 */
import { z } from 'zod';
import { isDuration, parseDuration } from '../../src/lib/duration.ts';
import { isObject } from '../../src/lib/objects.ts';
import { CodecError } from './codec.ts';
import { InvalidCron, nextTime, parseCron } from '../../src/lib/cron.ts';

/** At most one field is set; with none, it is disabled. */
export interface ContinuousReconcile {
  readonly cron?: string;
  readonly every?: string;
}

export const continuousSchema = z
  .object({
    cron: z.string().nullish().describe('Times of the jobs as a cron expression, in UTC: "0 3 * * *".'),
    every: z.string().nullish().describe('Time between two jobs: "1h30m".'),
  })
  .nullish()
  .describe('Repeats the job with the same spec, which repairs drift. Exactly one of cron and every.');

/** Annotation of an item; the value `false` suspends the schedule. */
export const ACTIVE_ANNOTATION = 'continuousreconcile.extensions.landscaper.gardener.cloud/active';

/**
 * Reads and checks the field of a provider configuration.
 * @throws CodecError
 */
export function decodeContinuous(value: unknown): ContinuousReconcile | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value))
    throw new CodecError({ step: 'decode', message: 'continuousReconcile must be an object' });
  const { cron, every } = value;
  if (cron !== undefined && typeof cron !== 'string')
    throw new CodecError({ step: 'decode', message: 'continuousReconcile.cron must be a string' });
  if (every !== undefined && (typeof every !== 'string' || !isDuration(every))) {
    throw new CodecError({
      step: 'decode',
      message: 'continuousReconcile.every must be a duration such as "1h30m"',
    });
  }
  if (cron && every) {
    throw new CodecError({
      step: 'validate',
      message: 'continuousReconcile: exactly one of [Cron, Every] must be set (currently set: [Cron, Every])',
    });
  }
  if (every && parseDuration(every) < 0) {
    throw new CodecError({
      step: 'validate',
      message: 'continuousReconcile.every: specified duration has to be greater than zero',
    });
  }
  if (cron) checkCron(cron);
  return { ...(cron && { cron }), ...(every && { every }) };
}

function checkCron(cron: string): void {
  try {
    parseCron(cron);
  } catch (error) {
    if (!(error instanceof InvalidCron)) throw error;
    throw new CodecError({
      step: 'validate',
      message: `continuousReconcile.cron: Invalid value: "${cron}": ${error.message}`,
    });
  }
}

/**
 * When the next job is due, in milliseconds since 1970; undefined: never.
 * @param last `status.lastReconcileTime`
 */
export function nextDueTime(
  schedule: ContinuousReconcile | undefined,
  last: string | undefined,
): number | undefined {
  if (!schedule || last === undefined) return undefined;
  const from = Math.floor(Date.parse(last) / 1000) * 1000;
  if (Number.isNaN(from)) return undefined;
  if (schedule.every) {
    const ms = parseDuration(schedule.every);
    return ms > 0 ? from + Math.max(1000, Math.floor(ms / 1000) * 1000) : undefined;
  }
  return schedule.cron ? nextTime(parseCron(schedule.cron), from) : undefined;
}
