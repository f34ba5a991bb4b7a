/** Semantic versions and constraints, by the rules of Masterminds/semver 3. */
import type { FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { fn } from '../signature.ts';
import { GoInt, GoObject, type GoFunction, type Value } from '../values.ts';

export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly pre: string;
  readonly metadata: string;
  readonly original: string;
}

const VERSION =
  /^v?(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?(?:\.(0|[1-9]\d*))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** Longer versions and constraints are refused: the patterns here take more than linear time. */
const MAX_LENGTH = 512;

export function parseVersion(text: string): Version {
  if (text.length > MAX_LENGTH) throw new FunctionError('invalid semantic version');
  const match =
    VERSION.exec(text) ??
    /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/.exec(
      text,
    );
  if (!match) throw new FunctionError('invalid semantic version');
  const pre = match[4] ?? '';
  if (pre.split('.').some((p) => /^0\d+$/.test(p))) throw new FunctionError('version segment starts with 0');
  const number = (i: number): bigint => BigInt(match[i] ?? '0');
  return {
    major: number(1),
    minor: number(2),
    patch: number(3),
    pre,
    metadata: match[5] ?? '',
    original: text,
  };
}

const versionText = (v: Version): string =>
  `${v.major.toString()}.${v.minor.toString()}.${v.patch.toString()}${v.pre && `-${v.pre}`}${v.metadata && `+${v.metadata}`}`;

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

function comparePre(a: string, b: string): number {
  if (a === b) return 0;
  if (a === '' || b === '') return a === '' ? 1 : -1;
  const x = a.split('.');
  const y = b.split('.');
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const xi = x[i];
    const yi = y[i];
    if (xi === undefined || yi === undefined) return xi === undefined ? -1 : 1;
    if (xi === yi) continue;
    const isNumber = [xi, yi].map((p) => /^\d+$/.test(p));
    if (isNumber[0] && isNumber[1]) return order(BigInt(xi), BigInt(yi));
    if (isNumber[0] !== isNumber[1]) return isNumber[0] ? -1 : 1;
    return xi < yi ? -1 : 1;
  }
  return 0;
}

export const compareVersions = (a: Version, b: Version): number =>
  order(a.major, b.major) || order(a.minor, b.minor) || order(a.patch, b.patch) || comparePre(a.pre, b.pre);

/** One comparison. `*` alone is partial, but neither of its later places counts as free; upstream's rules need that. */
interface Constraint {
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
  if (!match) throw new FunctionError(`improper constraint: ${text}`);
  const [, operator = '', , major = '', minor = '', patch = '', pre = '', , metadata = ''] = match;
  const parts = [major, minor.slice(1), patch.slice(1)];
  const free = parts.findIndex((part) => part === '' || isWild(part));
  const numbers = parts.map((part, i) => (free >= 0 && i >= free ? '0' : part));
  const version = parseVersion(numbers.join('.') + pre + metadata);
  return { operator, version, isPartial: free >= 0, isMinorFree: free === 1, isPatchFree: free === 2 };
}

/** All alternatives, each a list of constraints that must hold together. */
function parseConstraints(text: string): Constraint[][] {
  if (text.length > MAX_LENGTH) throw new FunctionError('improper constraint: it is too long');
  const rewritten = text.replace(
    RANGE,
    (_all, ...groups: string[]) => `>= ${groups[0] ?? ''}, <= ${groups[8] ?? ''} `,
  );
  return rewritten.split('||').map((alternative) => {
    const parts = alternative.match(EACH);
    if (!parts || !TOGETHER.test(alternative)) throw new FunctionError(`improper constraint: ${text}`);
    return parts.map(parseConstraint);
  });
}

/** `~1.2`, `1.x`: what the constraint names must be equal, what it leaves open may be more. */
function isWithinTilde(v: Version, c: Constraint): boolean {
  if (compareVersions(v, c.version) < 0) return false;
  const { major, minor, patch } = c.version;
  if (major === 0n && minor === 0n && patch === 0n && !c.isMinorFree && !c.isPatchFree) return true;
  return v.major === major && (c.isMinorFree || v.minor === minor);
}

function isWithinCaret(v: Version, c: Constraint): boolean {
  if (compareVersions(v, c.version) < 0) return false;
  if (c.version.major > 0n || c.isMinorFree) return v.major === c.version.major;
  if (v.major > 0n) return false;
  if (c.version.minor > 0n || c.isPatchFree) return v.minor === c.version.minor;
  return v.minor === 0n && v.patch === c.version.patch;
}

const isEqual = (v: Version, c: Constraint): boolean =>
  c.isPartial ? isWithinTilde(v, c) : compareVersions(v, c.version) === 0;

function isDifferent(v: Version, c: Constraint): boolean {
  if (!c.isPartial) return compareVersions(v, c.version) !== 0;
  if (isHidden(v, c)) return false;
  if (v.major !== c.version.major) return true;
  if (c.isMinorFree) return false;
  if (v.minor !== c.version.minor) return true;
  return c.isPatchFree ? v.pre !== c.version.pre : compareVersions(v, c.version) !== 0;
}

function isGreater(v: Version, c: Constraint): boolean {
  if (!c.isPartial) return compareVersions(v, c.version) > 0;
  if (v.major !== c.version.major) return v.major > c.version.major;
  if (c.isMinorFree) return false;
  return c.isPatchFree ? v.minor > c.version.minor : compareVersions(v, c.version) > 0;
}

function isLessOrEqual(v: Version, c: Constraint): boolean {
  if (!c.isPartial) return compareVersions(v, c.version) <= 0;
  if (v.major !== c.version.major) return v.major < c.version.major;
  return c.isMinorFree || v.minor <= c.version.minor;
}

const isAtLeast = (v: Version, c: Constraint): boolean => compareVersions(v, c.version) >= 0;

const OPERATORS: Readonly<Record<string, (v: Version, c: Constraint) => boolean>> = {
  '': isEqual,
  '=': isEqual,
  '!=': isDifferent,
  '>': isGreater,
  '<': (v, c) => compareVersions(v, c.version) < 0,
  '>=': isAtLeast,
  '=>': isAtLeast,
  '<=': isLessOrEqual,
  '=<': isLessOrEqual,
  '~': isWithinTilde,
  '~>': isWithinTilde,
  '^': isWithinCaret,
};

/** A version before a release counts only for constraints that name one; `!=` looks at that itself. */
const isHidden = (v: Version, c: Constraint): boolean => v.pre !== '' && c.version.pre === '';

const holds = (v: Version, c: Constraint): boolean =>
  (c.operator === '!=' || !isHidden(v, c)) && (OPERATORS[c.operator]?.(v, c) ?? false);

/** Whether a version is within a constraint such as `>=1.20 <2`. @throws FunctionError */
export function check(constraint: string, version: string): boolean {
  const alternatives = parseConstraints(constraint);
  const v = parseVersion(version);
  return alternatives.some((all) => all.every((c) => holds(v, c)));
}

const TYPE = '*semver.Version';

const compareMethod = (test: (comparison: number) => Value, of: Version): GoFunction =>
  fn(TYPE, (other: GoObject) => test(compareVersions(of, other.native as Version)));

/** The next version in one place. */
const next = (v: Version, place: 'major' | 'minor' | 'patch'): Version => {
  if (place === 'patch' && v.pre !== '') return { ...v, pre: '', metadata: '', original: '' };
  return {
    major: v.major + (place === 'major' ? 1n : 0n),
    minor: place === 'major' ? 0n : v.minor + (place === 'minor' ? 1n : 0n),
    patch: place === 'patch' ? v.patch + 1n : 0n,
    pre: '',
    metadata: '',
    original: '',
  };
};

function versionObject(v: Version): GoObject {
  const uint = (n: bigint): GoFunction => fn('', () => new GoInt('uint64', n));
  const grown = (place: 'major' | 'minor' | 'patch'): GoFunction =>
    fn('', () => versionObject(next(v, place)));
  return new GoObject({
    type: TYPE,
    native: v,
    text: () => versionText(v),
    json: () => versionText(v),
    methods: {
      Major: uint(v.major),
      Minor: uint(v.minor),
      Patch: uint(v.patch),
      Prerelease: fn('', () => v.pre),
      Metadata: fn('', () => v.metadata),
      Original: fn('', () => (v.original === '' ? versionText(v) : v.original)),
      String: fn('', () => versionText(v)),
      IncMajor: grown('major'),
      IncMinor: grown('minor'),
      IncPatch: grown('patch'),
      Compare: compareMethod((c) => BigInt(c), v),
      Equal: compareMethod((c) => c === 0, v),
      LessThan: compareMethod((c) => c < 0, v),
      GreaterThan: compareMethod((c) => c > 0, v),
      LessThanEqual: compareMethod((c) => c <= 0, v),
      GreaterThanEqual: compareMethod((c) => c >= 0, v),
    },
  });
}

export const semverFunctions: FunctionTable = {
  semver: fn('string', (text: string) => versionObject(parseVersion(text))),
  semverCompare: fn('string string', check),
};
