/** Fields of new objects that are set before the first step (pure). */
import { ownField } from '../../lib/objects.ts';
import type { View } from '../types.ts';
import { annotationOf, annotations } from './annotations.ts';
import type { ExternalObject } from './types.ts';

/**
 * Sets fields of an object before its resource is observed for the first time, such as tags. Called in every reconcile that
 * is not a deletion.
 * @returns a JSON merge patch of the object, which is stored if it changes anything; undefined for none
 */
export type Initializer<M extends ExternalObject> = (object: View<M>) => object | undefined;

/** The name of the object becomes the name of the resource, unless a user has set another one. */
export const nameAsExternalName: Initializer<ExternalObject> = (object) =>
  annotationOf(object, 'name') === undefined
    ? { metadata: { annotations: { [annotations.name]: object.metadata.name } } }
    : undefined;

/**
 * Adds tags that say which object a resource belongs to: `kubernetes-kind`, `kubernetes-namespace` and `kubernetes-name`.
 * Tags of users stay.
 * @param field of the spec, whose value is an object of strings
 */
export const kubernetesTags =
  (field = 'tags'): Initializer<ExternalObject> =>
  ({ kind, metadata, spec }) => {
    const present = ownField(spec, field) ?? {};
    const wanted: Record<string, string | undefined> = {
      'kubernetes-kind': kind.toLowerCase(),
      'kubernetes-namespace': metadata.namespace,
      'kubernetes-name': metadata.name,
    };
    const missing = Object.entries(wanted).filter(
      ([tag, value]) => value !== undefined && ownField(present, tag) === undefined,
    );
    return missing.length > 0 ? { spec: { [field]: Object.fromEntries(missing) } } : undefined;
  };
