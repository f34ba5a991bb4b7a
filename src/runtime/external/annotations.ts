/** Annotations on external resources, and functions that read them (pure). */
import { isDuration, parseDuration } from '../../lib/duration.ts';
import type { Obj, View } from '../types.ts';

const annotation = <N extends string>(name: N) => `external.espalier.dev/${name}` as const;

/** Annotations on external resources, set by users or by the controller. */
export const annotations = {
  /** The name of the resource in the service. Users set it to take over an existing resource. */
  name: annotation('name'),
  /** `true`: the resource is not reconciled until the annotation is removed. */
  paused: annotation('paused'),
  /** Time between two observations, instead of the interval of the kind: `90s`, `1h`. */
  poll: annotation('poll-interval'),
  /** Any new value starts a reconcile; the status repeats the value when it has ended. */
  request: annotation('request'),
  /** Times of the last creation, RFC 3339 with milliseconds. */
  createPending: annotation('create-pending'),
  createSucceeded: annotation('create-succeeded'),
  createFailed: annotation('create-failed'),
} as const;

export const annotationOf = (object: View<Obj>, name: keyof typeof annotations): string | undefined =>
  object.metadata.annotations?.[annotations[name]];

/**
 * Milliseconds between two observations.
 * @param defaultMs the interval of the kind
 * @param floorMs the minimum for any object
 */
export function pollIntervalMs(object: View<Obj>, defaultMs: number, floorMs: number): number {
  const text = annotationOf(object, 'poll');
  if (text === undefined || !isDuration(text)) return defaultMs;
  return Math.max(floorMs, parseDuration(text));
}

/** The error in the poll interval of the object; undefined if it is absent or valid. */
export function pollIntervalError(object: View<Obj>): string | undefined {
  const text = annotationOf(object, 'poll');
  if (text === undefined || isDuration(text)) return undefined;
  return `annotation ${annotations.poll} is ${JSON.stringify(text)}, which is not a duration such as "90s"; the interval of the kind is used`;
}
