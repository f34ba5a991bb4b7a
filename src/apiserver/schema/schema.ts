/**
 * Compiles a structural schema for the write pipeline: prune unknown members, apply defaults, validate. It is
 * compiled once per version of a kind and used for every request.
 *
 * All functions take plain JSON and do not modify it; unchanged parts are shared with the argument.
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
  /** The object without unknown members; apiVersion, kind and metadata stay. */
  prune<T extends object>(object: T): T;
  /** The object without nulls that are not allowed, and with defaults at every depth. */
  applyDefaults<T extends object>(object: T): T;
  /**
   * All errors in the object: keywords, unique list items, embedded resources.
   * @param old the object before an update; errors in unchanged values are dropped
   */
  validate(object: object, old?: object): FieldError[];
  /** Paths of the members that `prune` would drop, sorted: `spec.list[0].foo`. */
  unknownFields(object: object): string[];
}

/**
 * Compiles the `openAPIV3Schema` of a version.
 * @param options.root false if the schema describes a value that is not an API object, for example a default
 * @param options.scale paths of the scale subresource, to validate them as well
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
