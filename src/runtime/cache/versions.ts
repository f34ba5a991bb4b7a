/**
 * Compares resource versions. They are opaque by contract; in practice they are increasing decimal numbers of any
 * length.
 */

/** Less than 0 if `a` is older, 0 if they are equal, undefined if they cannot be ordered. */
export type CompareVersions = (a: string | undefined, b: string | undefined) => number | undefined;

const DECIMAL = /^[1-9][0-9]*$/;

/** Compares by length, then by digits, so numbers above 2^64 work. */
export const compareVersions: CompareVersions = (a, b) => {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return 0;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
};

/** For sources whose versions can be compared for equality only. */
export const tellVersionsApart: CompareVersions = (a, b) => (a !== undefined && a === b ? 0 : undefined);
