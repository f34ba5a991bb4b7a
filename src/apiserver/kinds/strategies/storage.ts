/** Volumes, claims and classes: defaults and rules. */
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { equalJson, isObject } from '../../types.ts';
import type { FieldError, JsonObject, KubeObject } from '../../types.ts';
import { defaultClaimSpec, fill, objectAt } from './pod-spec.ts';

function protect(object: KubeObject, finalizer: string): void {
  object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), finalizer])];
}

const modesMissing = (spec: Readonly<Record<string, unknown>>): boolean =>
  !Array.isArray(spec['accessModes']) || spec['accessModes'].length === 0;

export const claim: Strategy = {
  defaults(object) {
    defaultClaimSpec(object);
    fill(objectAt(object, 'status'), { phase: 'Pending' });
  },
  prepareForCreate(object) {
    settleSources(objectAt(object, 'spec'));
    protect(object, 'kubernetes.io/pvc-protection');
    object['status'] = { phase: 'Pending' };
  },
  prepareForUpdate(object) {
    settleSources(objectAt(object, 'spec'));
  },
};

/** Volumes are created from claims and snapshots by either member; from anything else by the reference only. */
function isKnownSource(source: unknown): boolean {
  if (!isObject(source)) return false;
  const { apiGroup = '', kind } = source;
  return apiGroup === ''
    ? kind === 'PersistentVolumeClaim'
    : apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot';
}

/** Both members name the source, if either of them may. */
function settleSources(spec: JsonObject): void {
  if (!isKnownSource(spec['dataSource'])) delete spec['dataSource'];
  copySource(spec, 'dataSource', 'dataSourceRef');
  copySource(spec, 'dataSourceRef', 'dataSource');
}

function copySource(spec: JsonObject, from: string, to: string): void {
  const source = spec[from];
  if (spec[to] !== undefined || !isObject(source) || source['namespace'] !== undefined) return;
  const { apiGroup, kind, name } = source;
  const copy = { ...(apiGroup === undefined ? {} : { apiGroup }), kind, name };
  if (to === 'dataSourceRef' || isKnownSource(copy)) spec[to] = copy;
}

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
    fill(objectAt(object, 'status'), { phase: 'Pending' });
  },
  prepareForCreate(object, { now }) {
    protect(object, 'kubernetes.io/pv-protection');
    object['status'] = { phase: 'Pending', lastPhaseTransitionTime: now };
  },
  prepareForUpdate(object, old, { now }) {
    const [status, before] = [objectAt(object, 'status'), objectAt(old, 'status')];
    const isMoved = status['phase'] !== before['phase'];
    if (!isMoved) fill(status, { lastPhaseTransitionTime: before['lastPhaseTransitionTime'] ?? now });
    else if ((status['lastPhaseTransitionTime'] ?? null) === null) status['lastPhaseTransitionTime'] = now;
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

export const csiDriver: Strategy = {
  defaults(object) {
    fill(objectAt(object, 'spec'), {
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
    });
  },
  prepareForUpdate(object, old) {
    if (!equalJson(object['spec'], old['spec']))
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
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
