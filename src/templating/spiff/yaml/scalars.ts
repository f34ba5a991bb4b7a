/** Plain scalars of Spiff's YAML: YAML 1.1 with booleans in any case, Go's numbers, and no dates. */
import { parseGoFloat, parseGoInteger } from '../../go/literals.ts';

export type YamlScalar = null | boolean | bigint | number | string;

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL']);
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'yes', 'true', 'on'].map((word) => [word, true] as const),
  ...['n', 'no', 'false', 'off'].map((word) => [word, false] as const),
]);
/** Longer strings are not treated as numbers. */
const MAX_NUMBER_LENGTH = 1000;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/**
 * The value of a plain scalar. The original converts dates to an unrecognisable string; here they stay unchanged.
 */
export function readScalar(text: string): YamlScalar {
  if (NULLS.has(text)) return null;
  if (text.length <= 5) {
    const bool = BOOLEANS.get(text.toLowerCase());
    if (bool !== undefined) return bool;
  }
  return /^[-+.0-9]/.test(text) && text.length <= MAX_NUMBER_LENGTH ? (readNumber(text) ?? text) : text;
}

function readNumber(text: string): bigint | number | undefined {
  const plain = text.replaceAll('_', '');
  if (!plain.startsWith('.')) {
    const integer = parseGoInteger(plain);
    if (integer !== undefined && integer >= MIN_INT64 && integer <= MAX_INT64) return integer;
  }
  const special = /^([-+]?)\.(inf|nan)$/i.exec(plain);
  if (special) {
    if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
    return special[1] === '-' ? -Infinity : Infinity;
  }
  return parseGoFloat(plain);
}
