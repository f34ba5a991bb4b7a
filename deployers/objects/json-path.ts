/** Evaluates the JSON paths of exports and readiness checks within limits on length and work. */
import { cutMiddle } from '../../src/lib/cut.ts';
import { compileJsonPath } from '../../src/lib/json-path.ts';
import { checkPathLength, PathBudget } from './path-budget.ts';

/**
 * All results of a path; undefined if a field of the path does not exist, unlike a wildcard without results.
 * @throws JsonPathError; ConfigurationError if the path is too long or visits too many values
 */
export function evaluate(
  path: string,
  value: unknown,
  budget: PathBudget = new PathBudget(),
): readonly unknown[] | undefined {
  checkPathLength(path);
  const shown = cutMiddle(path, 200);
  return compileJsonPath(path).find(value, (steps) => {
    budget.spend(steps, shown);
  });
}
