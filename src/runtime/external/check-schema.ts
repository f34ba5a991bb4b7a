/** Checks the spec of an object, and the attributes that the service reports, against schemas of the author. */
import { findingsText, pathText } from '../../lib/findings.ts';
import type { View } from '../types.ts';

/** What the runtime needs of a schema of zod; `T` is the type of valid values. */
export interface Schema<T> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false;
        readonly error: {
          readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
        };
      };
}

/**
 * What is invalid in a value, each with its path; undefined if the value is valid. The value stays as it is: defaults
 * and transformations of the schema have no effect.
 * @param root the path of the value
 */
export function schemaProblem(
  schema: Schema<unknown>,
  value: View<unknown>,
  root: string,
): string | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return undefined;
  return findingsText(parsed.error.issues, (issues) =>
    issues.map(({ path, message }) => `${pathText([root, ...path])}: ${message}`).join('; '),
  );
}
