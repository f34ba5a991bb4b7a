/**
 * Creates resources exactly once, although the process can crash after every step (pure).
 *
 * Before `create` is called, the object is marked as pending, in a write that fails if the object has changed
 * meanwhile. After it, a second annotation says whether the creation succeeded or failed. An object with only the first
 * annotation was left by a process that crashed in between. If the name was known before, `observe` finds the resource. If
 * the service assigns names, it is unknown whether the resource exists, and creating it again could leave a resource
 * that no object refers to: then the handler looks for it, if it can, or a user has to check.
 */
import type { Obj, View } from '../types.ts';
import { annotationOf, annotations } from './annotations.ts';

/** How long a created resource may be invisible to `observe`, by default. */
export const GRACE_MS = 30_000;

/** Annotations that record the start and the result of a creation; null removes one. */
export type CreationAnnotations = Record<string, string | null>;

/** @param now milliseconds since 1970, as `Clock.wall()` */
const moment = (now: number): string => new Date(now).toISOString();

/**
 * The annotations for the write before `create`. Older results are removed, so that a wrong clock cannot make them look newer.
 */
export const pendingAnnotations = (now: number, name: string | undefined): CreationAnnotations => ({
  [annotations.createPending]: moment(now),
  [annotations.createSucceeded]: null,
  [annotations.createFailed]: null,
  ...(name !== undefined && { [annotations.name]: name }),
});

export const succeededAnnotations = (now: number, name: string | undefined): CreationAnnotations => ({
  [annotations.createSucceeded]: moment(now),
  ...(name !== undefined && { [annotations.name]: name }),
});

export const failedAnnotations = (now: number): CreationAnnotations => ({
  [annotations.createFailed]: moment(now),
});

/** Whether a creation was started and its result was never stored. */
export function isInterrupted(object: View<Obj>): boolean {
  const pending = timeOf(object, 'createPending');
  if (pending === undefined) return false;
  const answers = [timeOf(object, 'createSucceeded'), timeOf(object, 'createFailed')];
  return !answers.some((answer) => answer !== undefined && answer >= pending);
}

/** Milliseconds during which "not found" can mean "not visible yet"; 0 if it means that the resource does not exist. */
export function graceLeftMs(object: View<Obj>, now: number, graceMs = GRACE_MS): number {
  const succeeded = timeOf(object, 'createSucceeded');
  if (succeeded === undefined) return 0;
  const left = succeeded + graceMs - now;
  // An annotation from the future is the result of a wrong clock, so it does not count.
  return left > graceMs ? 0 : Math.max(0, left);
}

/** When the last creation began: as the annotation says, and in milliseconds since 1970. */
export const creationStart = (object: View<Obj>): { readonly text: string; readonly ms: number } => ({
  text: annotationOf(object, 'createPending') ?? '',
  ms: timeOf(object, 'createPending') ?? 0,
});

/** Milliseconds during which a resource whose creation was interrupted may not be visible yet. */
export function unseenLeftMs(object: View<Obj>, now: number, graceMs: number): number {
  const left = creationStart(object).ms + graceMs - now;
  return left > graceMs ? 0 : Math.max(0, left);
}

/** What a user has to do after an interrupted creation. */
export const interruptedMessage = (object: View<Obj>): string =>
  `the creation begun at ${annotationOf(object, 'createPending') ?? ''} was interrupted, and the service assigns names, so it is unknown whether it created something. ` +
  `Check the service: if the resource exists, put its name into the annotation ${annotations.name}; in either case remove the annotation ${annotations.createPending}`;

function timeOf(object: View<Obj>, name: 'createPending' | 'createSucceeded' | 'createFailed') {
  const text = annotationOf(object, name);
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  // A mark that cannot be parsed still means that a creation was started; it counts as the oldest.
  return Number.isNaN(time) ? 0 : time;
}
