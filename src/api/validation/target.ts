/** The rule for a target: its content stands in one place. Contents are secret and never part of a message. */
import { invalidStructure, isSet, type FieldError } from './fields.ts';

/** The same rule holds for what a blueprint exports. */
export const targetSpecProblems = (
  spec: { readonly config?: unknown; readonly secretRef?: unknown },
  path = 'spec',
): readonly FieldError[] =>
  spec.config !== undefined && spec.config !== null && isSet(spec.secretRef)
    ? [invalidStructure(path, 'either config or secretRef may be set, not both')]
    : [];
