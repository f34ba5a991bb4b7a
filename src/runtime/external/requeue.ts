/** When the next reconcile of an external resource follows, as a table (pure). */

/** What a step requests: a growing delay, a reconcile after so many milliseconds, or neither. */
export interface Result {
  readonly backOff?: boolean;
  readonly requeueAfterMs?: number;
}

/** When the next reconcile follows: at once, after a growing delay, at the sync period, or after so many milliseconds. */
export type Requeue =
  | { readonly when: 'now' }
  | { readonly when: 'backOff' }
  | { readonly when: 'sync' }
  | { readonly when: 'later'; readonly requeueAfterMs: number };

/**
 * The first matching row decides:
 *
 * | object | result | error | next reconcile |
 * |---|---|---|---|
 * | dirty | any | any | now |
 * | clean | any | yes | after a growing delay |
 * | clean | `backOff: true` | no | after a growing delay |
 * | clean | `requeueAfterMs` | no | after so many milliseconds |
 * | clean | neither | no | at the sync period |
 *
 * @param dirty the object changed during the reconcile; the writes of the reconcile itself count
 */
export function decideRequeue(dirty: boolean, result: Result, error?: unknown): Requeue {
  if (dirty) return { when: 'now' };
  if (error !== undefined || result.backOff === true) return { when: 'backOff' };
  if (result.requeueAfterMs === undefined) return { when: 'sync' };
  return { when: 'later', requeueAfterMs: result.requeueAfterMs };
}
