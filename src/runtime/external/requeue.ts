/** When an external resource is looked at again, as a table (pure). */
import type { Result } from './types.ts';

/** When to look again: at once, after a growing delay, at the sync period, or after so many milliseconds. */
export type Requeue =
  | { readonly when: 'now' }
  | { readonly when: 'backoff' }
  | { readonly when: 'sync' }
  | { readonly when: 'after'; readonly ms: number };

/**
 * The first row that fits decides:
 *
 * | object | result | error | next run |
 * |---|---|---|---|
 * | dirty | any | any | now |
 * | clean | any | yes | after a growing delay |
 * | clean | `requeue: true` | no | after a growing delay |
 * | clean | `requeueAfterMs` | no | after so many milliseconds |
 * | clean | neither | no | at the sync period |
 *
 * @param dirty something happened to the object during the run, the run's own writes included
 */
export function decideRequeue(dirty: boolean, result: Result, error?: unknown): Requeue {
  if (dirty) return { when: 'now' };
  if (error !== undefined || result.requeue === true) return { when: 'backoff' };
  if (result.requeueAfterMs !== undefined) return { when: 'after', ms: result.requeueAfterMs };
  return { when: 'sync' };
}
