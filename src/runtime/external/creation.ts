/**
 * Creating things exactly once, although every step may be the last one before a crash (pure).
 *
 * Before `create` is called the object is marked as pending, in a write that fails if anybody else has touched it; after
 * it the mark is answered by a second one, succeeded or failed. An object that is found pending and unanswered was left
 * by a process that died in between. If the name was known before, `observe` finds out what became of it. If the
 * service assigns names nobody can tell, and creating again could leave a thing behind that nobody knows of: then a
 * person has to look.
 */
import type { Obj, View } from '../types.ts';
import { annotationOf, annotations } from './annotations.ts';

/** How long a thing that was created may stay out of sight. */
const GRACE_MS = 30_000;

export type Marks = Record<string, string | null>;

/** @param now milliseconds since 1970, as `Clock.wall()` */
const moment = (now: number): string => new Date(now).toISOString();

/** Marks for the write before `create`; older answers go, so that no clock can make them look like the newer ones. */
export const pendingMarks = (now: number, name: string | undefined): Marks => ({
  [annotations.createPending]: moment(now),
  [annotations.createSucceeded]: null,
  [annotations.createFailed]: null,
  ...(name !== undefined && { [annotations.name]: name }),
});

export const succeededMarks = (now: number, name: string | undefined): Marks => ({
  [annotations.createSucceeded]: moment(now),
  ...(name !== undefined && { [annotations.name]: name }),
});

export const failedMarks = (now: number): Marks => ({ [annotations.createFailed]: moment(now) });

/** Whether a creation was begun and its end never written down. */
export function isInterrupted(object: View<Obj>): boolean {
  const pending = timeOf(object, 'createPending');
  if (pending === undefined) return false;
  const answers = [timeOf(object, 'createSucceeded'), timeOf(object, 'createFailed')];
  return !answers.some((answer) => answer !== undefined && answer >= pending);
}

/** Milliseconds for which "not found" means "not to be seen yet"; 0 when it means what it says. */
export function graceLeftMs(object: View<Obj>, now: number): number {
  const succeeded = timeOf(object, 'createSucceeded');
  if (succeeded === undefined) return 0;
  const left = succeeded + GRACE_MS - now;
  // A mark from the future is a clock that goes wrong, not a reason to wait for it.
  return left > GRACE_MS ? 0 : Math.max(0, left);
}

/** What a person has to do about an interrupted creation. */
export const interruptedMessage = (object: View<Obj>): string =>
  `the creation begun at ${annotationOf(object, 'createPending') ?? ''} was interrupted, and the service assigns names, so it is unknown whether it created something. ` +
  `Check the service: if the resource exists, put its name into the annotation ${annotations.name}; in either case remove the annotation ${annotations.createPending}`;

function timeOf(object: View<Obj>, name: 'createPending' | 'createSucceeded' | 'createFailed') {
  const text = annotationOf(object, name);
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  // Something was begun, and when does not matter: a mark that cannot be read counts as the oldest.
  return Number.isNaN(time) ? 0 : time;
}
