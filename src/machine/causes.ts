/**
 * The failures of child objects as one message for a status. Pure.
 *
 * A parent quotes the messages of its children, and they quote theirs. If the result gets too long, its middle is cut: the end is
 * the message of the innermost object, which says what to do.
 */
import { concernsPredecessor } from '../api/predecessors.ts';
import type { LastError } from '../api/shared.ts';
import { cutEnd, cutStart } from '../lib/cut.ts';
import type { View } from '../runtime/types.ts';

const MAX_CAUSES = 10;
/** Maximum length of one cause. */
const MAX_LENGTH = 1024;
/** Maximum length of all causes together; a status message has at most 8 KiB. */
const MAX_TOTAL = 7000;
/** Length of the end that is kept of a longer cause; it fits into the share of one cause even if MAX_CAUSES are listed. */
const MAX_END = 600;
const MAX_NAMES = 20;
/** Replaces the middle of a cause. */
const CUT = ' (…) ';

/** Why an object failed. */
export interface Cause {
  readonly text: string;
  /** The object failed because a sibling failed, whose message says more. */
  readonly isConsequence?: boolean;
}

/** @param otherwise the message if there is no error */
export const causeOf = (name: string, error: View<LastError> | undefined, otherwise = ''): Cause => ({
  text: `${name}: ${error?.message ?? otherwise}`,
  isConsequence: concernsPredecessor(error),
});

/**
 * The first causes, each up to a maximum length, and how many there are. Causes that are consequences of others come first, so
 * the message ends with a real cause if there is one.
 */
export function causesText(causes: readonly Cause[]): string {
  const reasons = causes.filter(({ isConsequence }) => !isConsequence).slice(0, MAX_CAUSES);
  const consequences = causes
    .filter(({ isConsequence }) => isConsequence)
    .slice(0, MAX_CAUSES - reasons.length);
  const shown = [...consequences, ...reasons];
  const max = Math.min(MAX_LENGTH, Math.floor(MAX_TOTAL / shown.length));
  const text = shown.map((cause) => shortened(cause.text, max)).join('; ');
  return shown.length < causes.length ? `${shown.length} of ${causes.length}: ${text}` : text;
}

/** The first names, and the number of the others. */
export function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ');
}

/** The beginning and the end of a message, without the halves of words beside the cut. */
function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const beginning = cutEnd(text, max - CUT.length - MAX_END).replace(/\s\S{0,40}$/, '');
  return `${beginning}${CUT}${cutStart(text, MAX_END).replace(/^\S{0,40}\s/, '')}`;
}
