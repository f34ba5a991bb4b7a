/** Orders resource versions: opaque by contract, in practice growing decimals of any length. */

/** Less than 0 when `a` is older, 0 when they are the same, undefined when nobody can tell. */
export type CompareVersions = (a: string | undefined, b: string | undefined) => number | undefined;

const DECIMAL = /^[1-9][0-9]*$/;

/** By length, then by digits; so neither 2^53 nor 2^64 is a limit. */
export const compareVersions: CompareVersions = (a, b) => {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return 0;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
};

/** For sources whose versions can only be told apart. */
export const tellVersionsApart: CompareVersions = (a, b) => (a !== undefined && a === b ? 0 : undefined);
