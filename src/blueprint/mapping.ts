/** Data mappings: Spiff documents that see only values, no files and no component. */
import { toYamlAsGiven } from '../lib/yaml.ts';
import { blockAt, mappingInputBlock } from '../templating/excerpt.ts';
import { noFiles } from '../templating/files.ts';
import { Unresolvable } from '../templating/spiff/function.ts';
import { fromJsonValue, toJsonValue } from '../templating/spiff/json.ts';
import { standardFunctions } from '../templating/spiff/functions/index.ts';
import { culpritIn, type FoundCulprit } from '../templating/spiff-culprit.ts';
import { SpiffProblem } from '../templating/spiff/problem.ts';
import { renderSpiff, type SpiffWorld } from '../templating/spiff/spiff.ts';
import type { SpiffMap } from '../templating/spiff/value.ts';
import { BlueprintProblem } from './errors.ts';

/** A mapping cannot be evaluated, for example because it refers to a missing name. */
export class MappingFailed extends BlueprintProblem {}

/** The name of a mapping in messages. */
export interface MappingName {
  /** Name of the value that it produces. */
  readonly key: string;
  /** e.g. `import mapping template shop.url` */
  readonly what: string;
  /** reason of the error */
  readonly reason: string;
}

/**
 * The value of one mapping.
 * @param document the mapping, as in the installation
 * @param bindings names that the mapping may refer to
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
    const message = `unable to template ${what}: ${error.message}`;
    if (error instanceof Unresolvable) throw new MappingFailed(reason, message, { cause: error });
    // The source text of the mapping is lost: it is shown as YAML, after its name.
    const source = toYamlAsGiven({ [key]: document }).trimEnd();
    const found = culpritIn(error, source, key, [key]);
    throw new MappingFailed(reason, message + blockOf(found, source) + mappingInputBlock(bindings), {
      cause: found?.failure ?? error,
    });
  }
}

function blockOf(found: FoundCulprit | undefined, source: string): string {
  if (!found) return '';
  const { place, column } = found;
  const title = `mapping source, line ${String(place.line)}, column ${String(column + 1)}`;
  return blockAt(source, place.line, column, title);
}
