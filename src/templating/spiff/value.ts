/** The values of expressions. */

/**
 * A value: YAML data as in the Go original, and values that only expressions can create. Integers are bigints
 * (int64), to distinguish them from doubles, which are numbers.
 */
export type SpiffValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly SpiffValue[]
  | SpiffMap
  | SpiffCallable
  | SpiffTemplate;

/** In the order of the document; functions with a visible order sort by key. */
export type SpiffMap = ReadonlyMap<string, SpiffValue>;

/** A lambda, or a function as a value. Only the evaluator can call it. */
export abstract class SpiffCallable {
  /** The source text: `lambda|x|->x + 1`. */
  abstract readonly text: string;
}

/** A node with `&template`: evaluated where it is instantiated. Only the evaluator can do that. */
export abstract class SpiffTemplate {
  abstract readonly text: string;
}

export const isSpiffMap = (value: SpiffValue): value is SpiffMap => value instanceof Map;

export const isSpiffList = (value: SpiffValue): value is readonly SpiffValue[] => Array.isArray(value);

/** The result of `type(x)`, also for messages. */
export function typeName(value: SpiffValue | readonly unknown[] | ReadonlyMap<string, unknown>): string {
  if (value === null) return 'nil';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    default:
  }
  if (Array.isArray(value)) return 'list';
  if (value instanceof Map) return 'map';
  return value instanceof SpiffTemplate ? 'template' : 'lambda';
}
