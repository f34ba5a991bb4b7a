/** Annotations by which users and the runtime talk about an external resource, and their reading (pure). */
import { isDuration, parseDuration } from '../../lib/duration.ts';
import type { Obj, View } from '../types.ts';

const annotation = <N extends string>(name: N) => `external.espalier.dev/${name}` as const;

/** Annotations on external resources: what users ask for, and what the controller remembers. */
export const annotations = {
  /** The name under which the service knows the thing; may be set by users to take over what is there. */
  name: annotation('name'),
  /** `true`: nothing is done until it is gone. */
  paused: annotation('paused'),
  /** How often to look, in place of the kind's interval: `90s`, `1h`. */
  poll: annotation('poll-interval'),
  /** Any new value causes a run; the status repeats it when that is over. */
  request: annotation('request'),
  /** Moments of the last creation, RFC 3339 with milliseconds. */
  createPending: annotation('create-pending'),
  createSucceeded: annotation('create-succeeded'),
  createFailed: annotation('create-failed'),
} as const;

export const annotationOf = (object: View<Obj>, name: keyof typeof annotations): string | undefined =>
  object.metadata.annotations?.[annotations[name]];

/**
 * Milliseconds between two looks.
 * @param defaultMs the kind's interval
 * @param floorMs no object may ask for less
 */
export function pollIntervalMs(object: View<Obj>, defaultMs: number, floorMs: number): number {
  const text = annotationOf(object, 'poll');
  if (text === undefined || !isDuration(text)) return defaultMs;
  return Math.max(floorMs, parseDuration(text));
}

/** What is wrong with the object's poll interval; undefined when it is absent or right. */
export function pollIntervalError(object: View<Obj>): string | undefined {
  const text = annotationOf(object, 'poll');
  if (text === undefined || isDuration(text)) return undefined;
  return `annotation ${annotations.poll} is ${JSON.stringify(text)}, which is not a duration such as "90s"; the interval of the kind is used`;
}
