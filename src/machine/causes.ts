/**
 * The failures of child objects as one message for a status. Pure.
 *
 * A parent quotes the messages of its children, and they quote theirs. If the result gets too long, its middle is cut: the end is
 * the message of the innermost object, which says what to do.
 */
import { cutEnd, cutMiddle } from '../lib/cut.ts';

const MAX_CAUSES = 10;
/** Maximum length of one cause. */
const MAX_LENGTH = 1024;
/** Maximum length of all causes together; a status message has at most 8 KiB. */
const MAX_TOTAL = 7000;
/** Maximum length of the innermost message; it fits into the share of one cause even if MAX_CAUSES are listed. */
const MAX_INNERMOST = 600;
const MAX_NAMES = 20;
/** Replaces the middle of a chain. */
const CUT = ' (…) ';

/**
 * Where the next cause, or a cause one level down, begins in a chain. The phases of installations and executions write all
 * lists of causes, and they begin with these words.
 */
const LINK =
  /Failed sub-installation\(s\): [^()]*\(|Execution is failed \(|has failed (?:or missing deploy )?items: |not all sub objects were deleted: | \(…\) |; (?=(?:[A-Z][A-Za-z]+ )?[a-z0-9][-a-z0-9.]*: )/g;

/** A sibling that failed because another one failed; the message of the other one says more. */
const CONSEQUENCE = /^[^:]*: Op: NotCompletedDependents /;

/**
 * The first causes, each up to a maximum length, and how many there are. Causes that are consequences of others come first, so
 * the message ends with a real cause if there is one.
 * @param causes `name: message` of each object below
 */
export function causesText(causes: readonly string[]): string {
  const reasons = causes.filter((cause) => !CONSEQUENCE.test(cause)).slice(0, MAX_CAUSES);
  const consequences = causes
    .filter((cause) => CONSEQUENCE.test(cause))
    .slice(0, MAX_CAUSES - reasons.length);
  const shown = [...consequences, ...reasons];
  const max = Math.min(MAX_LENGTH, Math.floor(MAX_TOTAL / shown.length));
  const text = shown.map((cause) => shortened(cause, max)).join('; ');
  return shown.length < causes.length ? `${shown.length} of ${causes.length}: ${text}` : text;
}

/** The first names, and the number of the others. */
export function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ');
}

function shortened(chain: string, max: number): string {
  if (chain.length <= max) return chain;
  const at = innermostAt(chain);
  if (at === 0) return cutMiddle(chain, max);
  const innermost = cutMiddle(chain.slice(at), MAX_INNERMOST);
  return `${cutEnd(chain, max - CUT.length - innermost.length)}${CUT}${innermost}`;
}

function innermostAt(chain: string): number {
  const last = [...chain.matchAll(LINK)].at(-1);
  return last ? last.index + last[0].length : 0;
}
