/** Semantic versions with the rules of Masterminds/semver 3.4. */
import { GoError } from './errors.ts';

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

/** Longer versions are refused, because the patterns here need more than linear time. */
const MAX_LENGTH = 512;

/** @throws GoError */
export function parseVersion(text: string): Version {
  if (text.length > MAX_LENGTH) throw new GoError('invalid semantic version');
  const match =
    VERSION.exec(text) ??
    /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/.exec(
      text,
    );
  if (!match) throw new GoError('invalid semantic version');
  const pre = match[4] ?? '';
  if (pre.split('.').some((p) => /^0\d+$/.test(p))) throw new GoError('version segment starts with 0');
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

export const versionText = (v: Version): string =>
  `${v.major.toString()}.${v.minor.toString()}.${v.patch.toString()}${v.pre && `-${v.pre}`}${v.metadata && `+${v.metadata}`}`;

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

export function comparePre(a: string, b: string): number {
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

/** The version with one part incremented. */
export const nextVersion = (v: Version, place: 'major' | 'minor' | 'patch'): Version => {
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
