/** Namespace: its own finalizer, its phase, and the label with its name. */
import type { Strategy } from '../kinds.ts';
import type { JsonObject } from '../../types.ts';
import { fill, objectAt } from './pod-spec.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

export const namespace: Strategy = {
  defaults(object) {
    const { metadata } = object;
    if (metadata.name !== '') metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
    fill(objectAt(object, 'status'), { phase: 'Active' });
  },
  prepareForCreate(object) {
    const spec = objectAt(object, 'spec') as { finalizers?: string[] };
    const finalizers = new Set(spec.finalizers);
    finalizers.add('kubernetes');
    spec.finalizers = [...finalizers];
    object['status'] = { phase: 'Active' };
    object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: object.metadata.name };
  },
  prepareForUpdate(object, old) {
    object['spec'] = {
      ...(object['spec'] as JsonObject),
      finalizers: (old['spec'] as JsonObject)['finalizers'],
    };
    if ((old['spec'] as JsonObject)['finalizers'] === undefined)
      delete (object['spec'] as JsonObject)['finalizers'];
  },
};
