/** Compares values: expected fields must exist, other fields do not matter. Pure. */
import { pathText, type Path } from '../../../api/decode.ts';
import { equal } from '../../../lib/json.ts';
import { isObject } from '../../../lib/objects.ts';
import type { Difference } from './problem.ts';

/** Values are not shown beyond this length. */
const MAX_SHOWN = 200;

/**
 * Differences of the fields of `expected`. Null stands for a field that must not exist; lists must have the same length.
 */
export function partialDifferences(
  expected: unknown,
  actual: unknown,
  path: Path = [],
): readonly Difference[] {
  if (expected === null) {
    return actual === undefined || actual === null ? [] : [difference(path, 'absent', shown(actual))];
  }
  if (isObject(expected) && isObject(actual))
    return Object.entries(expected).flatMap(([key, value]) =>
      partialDifferences(value, Object.hasOwn(actual, key) ? actual[key] : undefined, [...path, key]),
    );
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length)
      return [
        difference(
          path,
          `${counted(expected.length)}: ${shown(expected)}`,
          `${counted(actual.length)}: ${shown(actual)}`,
        ),
      ];
    return expected.flatMap((value, i) => partialDifferences(value, actual[i], [...path, i]));
  }
  return equal(expected, actual) ? [] : [difference(path, shown(expected), shown(actual))];
}

/** Differences of the values, in both directions. */
export function exactDifferences(expected: unknown, actual: unknown, path: Path = []): readonly Difference[] {
  if (!isObject(expected) || !isObject(actual)) {
    if (equal(expected, actual)) return [];
    if (!Array.isArray(expected) || !Array.isArray(actual) || expected.length !== actual.length)
      return [difference(path, shown(expected), shown(actual))];
    return expected.flatMap((value, i) => exactDifferences(value, actual[i], [...path, i]));
  }
  const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
  return keys.flatMap((key) => exactDifferences(expected[key], actual[key], [...path, key]));
}

const difference = (path: Path, expected: string, actual: string): Difference => ({
  path: pathText(path),
  expected,
  actual,
});

/** Readable, and distinguishes the string "1" from the number 1. */
function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

const counted = (count: number): string => `${String(count)} element${count === 1 ? '' : 's'}`;
