/** Volumes, claims and classes: defaults and rules. */
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { isObject } from '../../types.ts';
import type { FieldError, KubeObject } from '../../types.ts';
import { fill, objectAt } from './pod-spec.ts';

function protect(object: KubeObject, finalizer: string): void {
  object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), finalizer])];
}

const modesMissing = (spec: Readonly<Record<string, unknown>>): boolean =>
  !Array.isArray(spec['accessModes']) || spec['accessModes'].length === 0;

export const claim: Strategy = {
  defaults(object) {
    fill(objectAt(object, 'spec'), { volumeMode: 'Filesystem' });
  },
  prepareForCreate(object) {
    protect(object, 'kubernetes.io/pvc-protection');
    object['status'] = { phase: 'Pending' };
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const requests = objectAt(objectAt(spec, 'resources'), 'requests');
    const errors: FieldError[] = [];
    if (modesMissing(spec))
      errors.push(field.required('spec.accessModes', 'at least 1 access mode is required'));
    if (requests['storage'] === undefined) errors.push(field.required('spec.resources[storage]'));
    return errors;
  },
};

/** Members of a volume's spec that are not a volume source. */
const PLAIN: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

export const volume: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    fill(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
    if (isObject(spec['hostPath'])) fill(spec['hostPath'], { type: '' });
  },
  prepareForCreate(object, { now }) {
    protect(object, 'kubernetes.io/pv-protection');
    object['status'] = { phase: 'Pending', lastPhaseTransitionTime: now };
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const errors: FieldError[] = [];
    if (modesMissing(spec)) errors.push(field.required('spec.accessModes'));
    const { capacity } = spec;
    if (!isObject(capacity)) errors.push(field.required('spec.capacity'));
    if (!isObject(capacity) || capacity['storage'] === undefined || Object.keys(capacity).length > 1)
      errors.push(field.notSupported('spec.capacity', capacity, ['storage']));
    if (Object.keys(spec).every((member) => PLAIN.has(member)))
      errors.push(field.required('spec', 'must specify a volume type'));
    return errors;
  },
};

export const storageClass: Strategy = {
  defaults(object) {
    fill(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
  },
  validate: (object) =>
    typeof object['provisioner'] === 'string' && object['provisioner'] !== ''
      ? []
      : [field.required('provisioner')],
};
