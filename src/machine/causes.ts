/**
 * What went wrong below, as one text for a status. Pure.
 *
 * A parent repeats what its children say, and they repeat theirs. Where that gets too long the middle of the chain is cut: the
 * end is the sentence of the object at the bottom, the only one that says what to do.
 */
import { cutEnd, cutMiddle } from '../lib/cut.ts';

const MAX_CAUSES = 10;
/** Of one cause, however few there are. */
const MAX_LENGTH = 1024;
/** Of all of them together: a status message has at most 8 KiB. */
const MAX_TOTAL = 7000;
/** Of the sentence at the bottom; fits into the share of each cause, also when as many as possible are told. */
const MAX_INNERMOST = 600;
const MAX_NAMES = 20;
/** Stands for the middle of a chain. */
const CUT = ' (…) ';

/**
 * Where a chain of causes goes on with the next cause or one level down. All lists of causes are written by the phases of
 * installations and executions, which begin with these words.
 */
const LINK =
  /Failed sub-installation\(s\): [^()]*\(|Execution is failed \(|has failed (?:or missing deploy )?items: |not all sub objects were deleted: | \(…\) |; (?=(?:[A-Z][A-Za-z]+ )?[a-z0-9][-a-z0-9.]*: )/g;

/** A sibling that waited in vain: what it waited for says more. */
const CONSEQUENCE = /^[^:]*: Op: NotCompletedDependents /;

/**
 * The first of them, each up to a length, and how many there are. The end of the text is always the end of a cause that is
 * no consequence of another one, if there is one.
 * @param causes `name: message` of each object below
 */
export function causesText(causes: readonly string[]): string {
  const reasons = causes.filter((cause) => !CONSEQUENCE.test(cause)).slice(0, MAX_CAUSES);
  const consequences = causes
    .filter((cause) => CONSEQUENCE.test(cause))
    .slice(0, MAX_CAUSES - reasons.length);
  const told = [...consequences, ...reasons];
  const max = Math.min(MAX_LENGTH, Math.floor(MAX_TOTAL / told.length));
  const text = told.map((cause) => shortened(cause, max)).join('; ');
  return told.length < causes.length ? `${told.length} of ${causes.length}: ${text}` : text;
}

/** The first names, and how many more there are. */
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
