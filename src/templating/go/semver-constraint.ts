/** Constraints on versions, by the rules of Masterminds/semver 3.4: `^1.2`, `>=1, <3 || 5.x`. */
import { table } from '../../lib/objects.ts';
import { GoError } from './errors.ts';
import { comparePre, compareVersions, parseVersion, versionText, type Version } from './semver.ts';

/** Longer ones are refused: the patterns here take more than linear time. */
const MAX_LENGTH = 512;

/** One comparison. `*` alone is partial, but its later parts do not count as wildcards; upstream's rules need that. */
interface Constraint {
  /** The version as written, for messages. */
  readonly text: string;
  readonly operator: string;
  readonly version: Version;
  /** Something is `x`, `*` or missing. */
  readonly isPartial: boolean;
  readonly isMinorFree: boolean;
  readonly isPatchFree: boolean;
}

const PART = String.raw`v?([0-9|x|X|*]+)(\.[0-9|x|X|*]+)?(\.[0-9|x|X|*]+)?(-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?`;
const CONSTRAINT = new RegExp(String.raw`^\s*(=|!=|>|<|>=|=>|<=|=<|~|~>|\^|)\s*(${PART})\s*$`);
const RANGE = new RegExp(String.raw`\s*(${PART})\s+-\s+(${PART})\s*`, 'g');
const EACH = new RegExp(String.raw`(?:=|!=|>|<|>=|=>|<=|=<|~|~>|\^|)\s*(?:${PART})`, 'g');

/** Constraints that must hold together are separated by blanks or commas. */
const ONE = String.raw`(?:=|!=|>|<|>=|=>|<=|=<|~|~>|\^|)\s*(?:${PART})`;
const TOGETHER = new RegExp(String.raw`^\s*${ONE}(?:(?:\s+|\s*,\s*)${ONE})*\s*$`);

const isWild = (part: string): boolean => part === 'x' || part === 'X' || part === '*';

function parseConstraint(text: string): Constraint {
  const match = CONSTRAINT.exec(text);
  if (!match) throw new GoError(`improper constraint: ${text}`);
  const [, operator = '', whole = '', major = '', minor = '', patch = '', pre = '', , metadata = ''] = match;
  const parts = [major, minor.slice(1), patch.slice(1)];
  const free = parts.findIndex((part) => part === '' || isWild(part));
  const numbers = parts.map((part, i) => (free >= 0 && i >= free ? '0' : part));
  const version = parseVersion(numbers.join('.') + pre + metadata);
  return {
    text: whole,
    operator,
    version,
    isPartial: free >= 0,
    isMinorFree: free === 1,
    isPatchFree: free === 2,
  };
}

/** All alternatives, each a list of constraints that must hold together. @throws GoError */
export function parseConstraints(text: string): Constraint[][] {
  if (text.length > MAX_LENGTH) throw new GoError('improper constraint: it is too long');
  const rewritten = text.replace(
    RANGE,
    (_all, ...groups: string[]) => `>= ${groups[0] ?? ''}, <= ${groups[8] ?? ''} `,
  );
  return rewritten.split('||').map((alternative) => {
    const parts = alternative.match(EACH);
    if (!parts || !TOGETHER.test(alternative)) throw new GoError(`improper constraint: ${alternative}`);
    return parts.map(parseConstraint);
  });
}

/** Why a version does not meet a constraint: `is less than`; undefined if it does. */
type Test = (v: Version, c: Constraint) => string | undefined;

const unless = (holds: boolean, reason: string): string | undefined => (holds ? undefined : reason);

/** `~1.2`, `1.x`: given parts must be equal, the others may be larger. */
const isWithinTilde: Test = (v, c) => {
  if (compareVersions(v, c.version) < 0) return LESS;
  const { major, minor, patch } = c.version;
  if (major === 0n && minor === 0n && patch === 0n && !c.isMinorFree && !c.isPatchFree) return undefined;
  if (v.major !== major) return OTHER_MAJOR;
  return unless(c.isMinorFree || v.minor === minor, 'does not have same major and minor version as');
};

const isWithinCaret: Test = (v, c) => {
  if (compareVersions(v, c.version) < 0) return LESS;
  if (c.version.major > 0n || c.isMinorFree) return unless(v.major === c.version.major, OTHER_MAJOR);
  if (v.major > 0n) return OTHER_MAJOR;
  if (c.version.minor > 0n || c.isPatchFree) return unless(v.minor === c.version.minor, OTHER_MINOR_OF_0);
  if (v.minor > 0n) return 'does not have same minor version as';
  return unless(v.patch === c.version.patch, OTHER_PATCH_OF_0);
};

const LESS = 'is less than';
const OTHER_MAJOR = 'does not have same major version as';
const OTHER_MINOR_OF_0 =
  'does not have same minor version as %. Expected minor versions to match when constraint major version is 0';
const OTHER_PATCH_OF_0 =
  'does not equal %. Expect version and constraint to equal when major and minor versions are 0';

const isEqual: Test = (v, c) =>
  c.isPartial ? isWithinTilde(v, c) : unless(compareVersions(v, c.version) === 0, 'is not equal to');

function differs(v: Version, c: Constraint): boolean {
  if (!c.isPartial) return compareVersions(v, c.version) !== 0;
  if (v.major !== c.version.major) return true;
  if (c.isMinorFree) return false;
  if (v.minor !== c.version.minor) return true;
  return c.isPatchFree ? comparePre(v.pre, c.version.pre) !== 0 : compareVersions(v, c.version) !== 0;
}

function isAbove(v: Version, c: Constraint): boolean {
  if (!c.isPartial) return compareVersions(v, c.version) > 0;
  if (v.major !== c.version.major) return v.major > c.version.major;
  if (c.isMinorFree) return false;
  return c.isPatchFree ? v.minor > c.version.minor : compareVersions(v, c.version) > 0;
}

function isAtMost(v: Version, c: Constraint): boolean {
  if (!c.isPartial) return compareVersions(v, c.version) <= 0;
  if (v.major !== c.version.major) return v.major < c.version.major;
  return c.isMinorFree || v.minor <= c.version.minor;
}

const isDifferent: Test = (v, c) => unless(differs(v, c), 'is equal to');
const isGreater: Test = (v, c) => unless(isAbove(v, c), 'is less than or equal to');
const isLess: Test = (v, c) => unless(compareVersions(v, c.version) < 0, 'is greater than or equal to');
const isLessOrEqual: Test = (v, c) => unless(isAtMost(v, c), 'is greater than');
const isAtLeast: Test = (v, c) => unless(compareVersions(v, c.version) >= 0, LESS);

const TESTS: Readonly<Record<string, Test>> = table({
  '': isEqual,
  '=': isEqual,
  '!=': isDifferent,
  '>': isGreater,
  '<': isLess,
  '>=': isAtLeast,
  '=>': isAtLeast,
  '<=': isLessOrEqual,
  '=<': isLessOrEqual,
  '~': isWithinTilde,
  '~>': isWithinTilde,
  '^': isWithinCaret,
});

const HIDDEN = 'is a prerelease version and the constraint is only looking for release versions';

/** The constraints that `v` violates; empty if none. */
function complaints(v: Version, all: readonly Constraint[]): string[] {
  if (v.pre !== '' && all.every((c) => c.version.pre === '')) return [`${versionText(v)} ${HIDDEN}`];
  return all.flatMap((c) => {
    const reason = TESTS[c.operator]?.(v, c);
    if (reason === undefined) return [];
    const whole = reason.includes('%') ? reason.replace('%', c.text) : `${reason} ${c.text}`;
    return [`${versionText(v)} ${whole}`];
  });
}

/** Why a version meets no alternative; empty if it meets one. */
export function constraintComplaints(
  alternatives: readonly (readonly Constraint[])[],
  version: Version,
): readonly string[] {
  const all = alternatives.map((alternative) => complaints(version, alternative));
  if (all.some((alternative) => alternative.length === 0)) return [];
  const hidden = `${versionText(version)} ${HIDDEN}`;
  const found = all.flat();
  return found.filter((text, i) => text !== hidden || found.indexOf(text) === i);
}

/** Whether a version meets a constraint such as `>=1.20 <2`. @throws GoError if one of them is invalid */
export const satisfies = (version: string, constraint: string): boolean => {
  const alternatives = parseConstraints(constraint);
  return constraintComplaints(alternatives, parseVersion(version)).length === 0;
};
