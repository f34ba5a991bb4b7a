/**
 * A structural schema compiled into what the write pipeline does with it: prune unknown members, fill in
 * defaults, validate. Compile once per version of a kind, then use for every request.
 *
 * All functions take plain JSON and change nothing; what did not change is shared with the argument.
 */
import { append } from '../../lib/lists.ts';
import { scaleErrors, type ScalePathsOf } from './scale-paths.ts';
import { duplicateItems, embeddedResources, hasEmbedded } from './invariants.ts';
import { defaultValue, dropNulls, pruneValue, shapeOf } from './shape.ts';
import type { JsonSchema } from './types.ts';
import { compileValidator } from './validate.ts';
import type { FieldError } from '../types.ts';

export type { JsonSchema } from './types.ts';

export interface CompiledSchema {
  readonly schema: JsonSchema;
  /** The object without members that the schema does not know; apiVersion, kind and metadata stay. */
  prune<T extends object>(object: T): T;
  /** The object without nulls where none are allowed, and with defaults filled in at every depth. */
  applyDefaults<T extends object>(object: T): T;
  /**
   * All findings about the object: keywords, unique list items, embedded resources.
   * @param old the object before an update; findings about values that it holds unchanged are dropped
   */
  validate(object: object, old?: object): FieldError[];
  /** Paths of the members that `prune` would drop, sorted: `spec.list[0].foo`. */
  unknownFields(object: object): string[];
}

/**
 * Compiles the `openAPIV3Schema` of a version.
 * @param options.root false when the schema describes a value that is no API object, such as a default
 * @param options.scale paths of the scale subresource, which validation looks at too
 */
export function compileSchema(
  schema: JsonSchema,
  options: { readonly root?: boolean; readonly scale?: ScalePathsOf } = {},
): CompiledSchema {
  const shape = shapeOf(schema, options.root ?? true);
  const validator = compileValidator(schema);
  const isEmbedding = hasEmbedded(shape);
  return {
    schema,
    prune: <T extends object>(object: T) => pruneValue(object, shape, '') as T,
    applyDefaults: <T extends object>(object: T) => defaultValue(dropNulls(object, shape), shape) as T,
    validate(object, old) {
      const errors = validator(object, old);
      if (shape.hasUnique && (old === undefined || duplicateItems(old, shape).length === 0)) {
        append(errors, duplicateItems(object, shape));
      }
      if (options.scale) append(errors, scaleErrors(object, options.scale));
      if (isEmbedding) append(errors, embeddedResources(object, shape));
      return errors;
    },
    unknownFields(object) {
      const unknown: string[] = [];
      pruneValue(object, shape, '', unknown);
      return unknown.sort();
    },
  };
}
