/** sprig's functions for semantic versions. */
import { compareVersions, nextVersion, parseVersion, versionText, type Version } from '../../go/semver.ts';
import { satisfies } from '../../go/semver-constraint.ts';
import type { FunctionTable } from '../env.ts';
import { fn } from '../signature.ts';
import { GoInt, GoObject, type GoFunction, type Value } from '../values.ts';

const TYPE = '*semver.Version';

const compareMethod = (test: (comparison: number) => Value, of: Version): GoFunction =>
  fn(TYPE, (other: GoObject) => test(compareVersions(of, other.native as Version)));

function versionObject(v: Version): GoObject {
  const uint = (n: bigint): GoFunction => fn('', () => new GoInt('uint64', n));
  const grown = (place: 'major' | 'minor' | 'patch'): GoFunction =>
    fn('', () => versionObject(nextVersion(v, place)));
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
  semverCompare: fn('string string', (constraint: string, version: string) => satisfies(version, constraint)),
};
