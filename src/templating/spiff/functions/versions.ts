/** Semantic versions. */
import { quoteString } from '../../go/quote.ts';
import { compareVersions, nextVersion, parseVersion, versionText, type Version } from '../../go/semver.ts';
import { constraintComplaints, parseConstraints } from '../../go/semver-constraint.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import { isSpiffList, type SpiffValue, typeName } from '../value.ts';
import { count, fail } from './arguments.ts';

/** @param name of the function, as messages begin */
function versionOf(name: string, value: SpiffValue): Version {
  if (typeof value !== 'string') {
    return fail(`${name} requires one string argument, but got ${typeName(value)}`);
  }
  try {
    return parseVersion(value);
  } catch (cause) {
    return fail(`${name}: ${quoteString(value)}: ${(cause as Error).message}`, cause);
  }
}

/** A changed version keeps its prefix `v`. */
const changedText = (original: string, changed: Version): string =>
  (original.startsWith('v') ? 'v' : '') + versionText(changed);

const ofVersion =
  (name: string, answer: (version: Version) => SpiffValue, shown = name): SpiffFunction =>
  (args) => {
    count(args, 1, 1, `${shown} requires one semver argument`);
    return answer(versionOf(shown, args[0] ?? null));
  };

const grown = (name: string, place: 'major' | 'minor' | 'patch'): SpiffFunction =>
  ofVersion(name, (version) => changedText(version.original, nextVersion(version, place)));

interface Part {
  readonly name: string;
  /** The name of the part in messages. */
  readonly attribute: string;
  readonly get: (version: Version) => string;
  /** @throws GoError */
  readonly set: (version: Version, value: string) => string;
}

/** With one argument it returns the part, with two it changes it. */
const part =
  ({ name, attribute, get, set }: Part): SpiffFunction =>
  (args) => {
    if (args.length > 2) fail(`${name} requires one semver argument and an optional value`);
    if (args.length === 0) fail(`${name} requires one semver argument`);
    const version = versionOf(name, args[0] ?? null);
    if (args.length === 1) return get(version);
    const [, value = null] = args;
    if (typeof value !== 'string') {
      return fail(`${name}: ${attribute} requires string, but got ${typeName(value)}`);
    }
    try {
      return set(version, value);
    } catch (cause) {
      const reason = (cause as Error).message;
      return fail(`${name}: invalid ${attribute} ${quoteString(value)}: ${reason}`, cause);
    }
  };

function checkParts(value: string, kind: 'prerelease' | 'metadata'): string {
  for (const segment of value === '' ? [] : value.split('.')) {
    if (!/^[0-9A-Za-z-]+$/.test(segment)) throw new Error(`invalid ${kind} string`);
    if (kind === 'prerelease' && /^0\d+$/.test(segment)) throw new Error('version segment starts with 0');
  }
  return value;
}

const PARTS: readonly Part[] = [
  {
    name: 'semverprerelease',
    attribute: 'prerelease',
    get: ({ pre }) => pre,
    set: (v, value) => changedText(v.original, { ...v, pre: checkParts(value, 'prerelease') }),
  },
  {
    name: 'semvermetadata',
    attribute: 'metadata',
    get: ({ metadata }) => metadata,
    set: (v, value) => changedText(v.original, { ...v, metadata: checkParts(value, 'metadata') }),
  },
  {
    name: 'semverrelease',
    attribute: 'release',
    get: (v) => changedText(v.original, { ...v, pre: '', metadata: '' }),
    set: (v, value) => changedText(value, { ...parseVersion(value), pre: v.pre, metadata: v.metadata }),
  },
];

/** Why a version does not meet the constraints; undefined if it does. */
function complaint(name: string, version: Version, constraints: readonly SpiffValue[]): string | undefined {
  for (const [i, constraint] of constraints.entries()) {
    if (typeof constraint !== 'string') {
      return fail(`${name}: constraint argument ${String(i)} must be string`);
    }
    const found = complaintsOf(name, constraint, i, version);
    if (found.length > 0) return `[${found.join(' ')}]`;
  }
  return undefined;
}

function complaintsOf(name: string, constraint: string, place: number, version: Version): readonly string[] {
  try {
    return constraintComplaints(parseConstraints(constraint), version);
  } catch (cause) {
    const reason = (cause as Error).message;
    return fail(`${name}: invalid constraint ${quoteString(constraint)}[${String(place)}]: ${reason}`, cause);
  }
}

function matches(args: readonly SpiffValue[]): SpiffValue {
  if (args.length === 0) fail('semvermatch requires at least one arguments');
  const version = versionOf('semvermatch', args[0] ?? null);
  return complaint('semvermatch', version, args.slice(1)) === undefined;
}

function validate(args: readonly SpiffValue[]): SpiffValue {
  if (args.length === 0) fail('semvervalidate requires at least one arguments');
  const [value = null, ...constraints] = args;
  const shown = typeof value === 'string' ? quoteString(value) : typeName(value);
  const name = `semvervalidate: ${shown}: semvervalidate`;
  const problem = complaint(name, versionOf(name, value), constraints);
  return problem === undefined ? value : fail(`semvervalidate: ${shown}: ${problem}`);
}

/** The condition `semver`: a version that matches the constraints. @throws Unresolvable for invalid constraints */
export function versionVerdict(
  value: SpiffValue,
  constraints: readonly SpiffValue[],
): { readonly holds: boolean; readonly text: string } {
  let version: Version;
  try {
    version = versionOf('semver', value);
  } catch (error) {
    return { holds: false, text: (error as Error).message };
  }
  const problem = complaint('semver', version, constraints);
  if (problem !== undefined) return { holds: false, text: problem };
  return { holds: true, text: constraints.length > 0 ? 'matches contraint' : 'is semantic version' };
}

function sort(args: readonly SpiffValue[]): SpiffValue {
  const [only] = args;
  const values = args.length === 1 && only !== undefined && isSpiffList(only) ? only : args;
  return values
    .map((value) => versionOf('semvercmp', value))
    .sort(compareVersions)
    .map(({ original }) => original);
}

function compare(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 2, 'semvercmp requires two arguments');
  const [a = null, b = null] = args;
  return BigInt(compareVersions(versionOf('semvercmp', a), versionOf('semvercmp', b)));
}

export const versionFunctions: SpiffFunctionTable = {
  // The original uses the wrong name for itself in messages.
  semver: ofVersion('semver', versionText, 'semverprerelease'),
  semvermajor: ofVersion('semvermajor', ({ major }) => major),
  semverminor: ofVersion('semverminor', ({ minor }) => minor),
  semverpatch: ofVersion('semverpatch', ({ patch }) => patch),
  ...Object.fromEntries(PARTS.map((entry) => [entry.name, part(entry)])),
  semverincmajor: grown('semverincmajor', 'major'),
  semverincminor: grown('semverincminor', 'minor'),
  semverincpatch: grown('semverincpatch', 'patch'),
  semvercmp: compare,
  semvermatch: matches,
  semvervalidate: validate,
  semversort: sort,
};
