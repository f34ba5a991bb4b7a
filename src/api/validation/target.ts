/** Rule for a target: its content has one source. Messages never contain the content, because it is secret. */
import { invalidStructure, isSet, type FieldError } from './fields.ts';

/** The same rule applies to targets that a blueprint exports. */
export const targetSpecProblems = (
  spec: { readonly config?: unknown; readonly secretRef?: unknown },
  path = 'spec',
): readonly FieldError[] =>
  spec.config !== undefined && spec.config !== null && isSet(spec.secretRef)
    ? [invalidStructure(path, 'either config or secretRef may be set, not both')]
    : [];
