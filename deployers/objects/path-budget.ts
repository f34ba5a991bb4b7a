/**
 * Limits the work of JSON paths. Paths come from deploy items and objects from target clusters, so the same
 * attacker may write both: a few nested recursive descents visit an object billions of times.
 */
import { cutMiddle } from '../../src/lib/cut.ts';
import { ConfigurationError } from '../sdk/errors.ts';

/** For all exports, or all readiness checks, in one reconcile of a deploy item; takes up to 100 ms. */
const MAX_PATH_STEPS = 1_000_000;
/** Far above realistic paths; parsing a filter takes quadratic time. */
const MAX_PATH_LENGTH = 4096;
/** For all exports of an item, as JSON; Kubernetes does not store secrets above 1 MiB. */
const MAX_EXPORT_CHARS = 16 * 2 ** 20;

const ERROR = { operation: 'EvaluateJSONPath', reason: 'LimitExceeded' } as const;

/** @throws ConfigurationError */
export function checkPathLength(path: string): void {
  if (path.length <= MAX_PATH_LENGTH) return;
  throw new ConfigurationError({
    ...ERROR,
    message: `the JSON path ${cutMiddle(path, 200)} has ${String(path.length)} characters, more than ${String(MAX_PATH_LENGTH)}, a fixed limit`,
  });
}

/** Counts the values that paths visit and compare. One budget for each reconcile of a deploy item. */
export class PathBudget {
  readonly #max: number;
  #spent = 0;

  constructor(maxSteps = MAX_PATH_STEPS) {
    this.#max = maxSteps;
  }

  /** Called before the work is done. @throws ConfigurationError */
  spend(steps: number, path: string): void {
    this.#spent += steps;
    if (this.#spent <= this.#max) return;
    throw new ConfigurationError({
      ...ERROR,
      message:
        `the JSON paths of the deploy item visit more than ${String(this.#max)} values, the last one being ${path}; ` +
        'this is a fixed limit: name the fields instead of searching for them with "..", or divide the deploy item',
    });
  }
}

/** Counts the size of the exports. */
export class ExportBudget {
  #left = MAX_EXPORT_CHARS;

  /** @throws ConfigurationError */
  spend(key: string, value: unknown): void {
    this.#left -= sizeUpTo(value, this.#left);
    if (this.#left >= 0) return;
    throw new ConfigurationError({
      ...ERROR,
      message:
        `the exports of the deploy item have more than 16 MiB as JSON with the value of ${key}; this is a fixed limit: ` +
        'export less of the objects, or divide the deploy item',
    });
  }
}

/** Approximate number of characters as JSON; counting stops above `max`. */
const sizeUpTo = (value: unknown, max: number): number =>
  sum(value, max, (each, key) => key.length + 4 + (typeof each === 'string' ? each.length : 0));

/** The cost of a comparison with a value: one step for each nested value, and more for long strings. */
export const stepsToCompare = (value: unknown): number =>
  sum(value, MAX_PATH_STEPS, (each) => 1 + (typeof each === 'string' ? each.length >> 6 : 0));

/** Not recursive, because values may be deeply nested. */
function sum(value: unknown, max: number, cost: (each: unknown, key: string) => number): number {
  let total = cost(value, '');
  const open = [value];
  while (open.length > 0 && total <= max) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, inner] of Object.entries(next)) {
      total += cost(inner, key);
      open.push(inner);
    }
  }
  return total;
}
