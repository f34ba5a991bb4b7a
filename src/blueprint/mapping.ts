/** Data mappings: Spiff documents that see values and nothing else, no files, no component. */
import { noFiles } from '../templating/files.ts';
import { Unresolvable } from '../templating/spiff/function.ts';
import { fromJsonValue, toJsonValue } from '../templating/spiff/json.ts';
import { standardFunctions } from '../templating/spiff/functions/index.ts';
import { SpiffProblem } from '../templating/spiff/problem.ts';
import { renderSpiff, type SpiffWorld } from '../templating/spiff/spiff.ts';
import type { SpiffMap } from '../templating/spiff/value.ts';
import { BlueprintProblem } from './errors.ts';

/** A mapping cannot be evaluated: a name it refers to is missing, for instance. */
export class MappingFailed extends BlueprintProblem {}

/** What a mapping is called in messages. */
export interface MappingName {
  /** Name of the value that it makes. */
  readonly key: string;
  /** e.g. `import mapping template shop.url` */
  readonly what: string;
  /** reason of the error */
  readonly reason: string;
}

/**
 * The value of one mapping.
 * @param document the mapping as it stands in the installation
 * @param bindings names the mapping may refer to
 * @throws MappingFailed
 */
export function evaluateMapping(
  document: unknown,
  bindings: Readonly<Record<string, unknown>>,
  { key, what, reason }: MappingName,
  { clock, rng, limits }: Pick<SpiffWorld, 'clock' | 'rng' | 'limits'>,
): unknown {
  try {
    const input = {
      document: fromJsonValue(document, 'document'),
      values: fromJsonValue(bindings, 'input') as SpiffMap,
      source: key,
    };
    return toJsonValue(
      renderSpiff(input, { clock, rng, limits, files: noFiles, functions: standardFunctions }).value,
    );
  } catch (error) {
    if (!(error instanceof SpiffProblem) && !(error instanceof Unresolvable)) throw error;
    throw new MappingFailed(reason, `unable to template ${what}: ${error.message}`, { cause: error });
  }
}
