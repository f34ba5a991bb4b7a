/** Deployments, ReplicaSets, StatefulSets and DaemonSets: defaults and rules. */
import { append } from '../../../lib/lists.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { labelSelectorErrors, labelSelectorOf } from '../../selectors/selectors.ts';
import { equalJson, isObject } from '../../types.ts';
import type { FieldError, JsonObject, KubeObject } from '../../types.ts';
import { defaultClaimSpec, defaultPodSpec, fill, listOf, objectAt, podSpecErrors } from './pod-spec.ts';

export const specOf = (object: KubeObject): JsonObject => objectAt(object, 'spec');

/** Sets defaults of the template's pod spec and metadata. */
export function defaultTemplate(spec: JsonObject): void {
  const template = objectAt(spec, 'template');
  objectAt(template, 'metadata');
  defaultPodSpec(objectAt(template, 'spec'));
}

/** The selector must exist, be valid, and match the template's labels. */
function templateErrors(spec: JsonObject, restart: readonly string[] = ['Always']): FieldError[] {
  const errors: FieldError[] = [];
  const selector = spec['selector'];
  const template = isObject(spec['template']) ? spec['template'] : {};
  const meta = isObject(template['metadata']) ? template['metadata'] : {};
  const labels = (meta['labels'] ?? {}) as Record<string, string>;
  if (!isObject(selector)) {
    errors.push(field.required('spec.selector'));
    errors.push(mismatch(meta['labels']));
  } else {
    const bad = labelSelectorErrors(selector, 'spec.selector');
    append(errors, bad);
    const isEmpty = !isObject(selector['matchLabels']) && !Array.isArray(selector['matchExpressions']);
    if (isEmpty)
      errors.push(field.invalid('spec.selector', selector, 'empty selector is invalid for deployment'));
    else if (bad.length === 0 && !labelSelectorOf(selector).matches(labels))
      errors.push(mismatch(meta['labels']));
  }
  const pod = isObject(template['spec']) ? template['spec'] : {};
  const claims = listOf(spec, 'volumeClaimTemplates').map((claim) => textOfName(claim));
  append(errors, podSpecErrors(pod, 'spec.template.spec', restart, claims));
  return errors;
}

const textOfName = ({ metadata }: JsonObject): string =>
  isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';

const mismatch = (labels: unknown): FieldError =>
  field.invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`');

function replicasErrors(spec: JsonObject): FieldError[] {
  const replicas = spec['replicas'];
  return typeof replicas === 'number' && replicas < 0
    ? [field.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]
    : [];
}

const selectorImmutable = (object: KubeObject, old: KubeObject): FieldError[] => {
  const selector = specOf(object)['selector'];
  return equalJson(selector, (old['spec'] as JsonObject)['selector'])
    ? []
    : [field.invalid('spec.selector', selector, 'field is immutable')];
};

export const podTemplate: Strategy = {
  defaults: defaultTemplate,
};

export const deployment: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    defaultTemplate(spec);
    fill(spec, {
      replicas: 1,
      strategy: {},
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    const strategy = objectAt(spec, 'strategy');
    fill(strategy, { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate')
      fill(objectAt(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
  },
  validate: (object) => [...replicasErrors(specOf(object)), ...templateErrors(specOf(object))],
  validateUpdate: selectorImmutable,
};

export const replicaSet: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    defaultTemplate(spec);
    fill(spec, { replicas: 1 });
  },
  validate: (object) => [...replicasErrors(specOf(object)), ...templateErrors(specOf(object))],
  validateUpdate: selectorImmutable,
};

/** Its selector is a map of labels; default: the labels of the template. */
export const replicationController: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    defaultTemplate(spec);
    const labels = objectAt(objectAt(spec, 'template'), 'metadata')['labels'];
    fill(spec, { replicas: 1, ...(isObject(labels) ? { selector: { ...labels } } : {}) });
    if (isObject(labels) && Object.keys(object.metadata.labels ?? {}).length === 0)
      object.metadata.labels = { ...(labels as Record<string, string>) };
  },
  validate: (object) => replicasErrors(specOf(object)),
};

const MUTABLE_STATEFULSET = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const statefulSet: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    defaultTemplate(spec);
    fill(spec, {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: {},
    });
    const strategy = objectAt(spec, 'updateStrategy');
    if (strategy['type'] === undefined) fill(strategy, { type: 'RollingUpdate', rollingUpdate: {} });
    if (isObject(strategy['rollingUpdate'])) fill(strategy['rollingUpdate'], { partition: 0 });
    fill(objectAt(spec, 'persistentVolumeClaimRetentionPolicy'), {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    });
    for (const claim of listOf(spec, 'volumeClaimTemplates')) {
      Object.assign(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
      fill(objectAt(claim, 'status'), { phase: 'Pending' });
      defaultClaimSpec(claim);
    }
  },
  validate: (object) => [...replicasErrors(specOf(object)), ...templateErrors(specOf(object))],
  validateUpdate(object, old) {
    const frozen = (o: KubeObject): JsonObject =>
      Object.fromEntries(
        Object.entries(specOf(o)).filter(([member]) => !MUTABLE_STATEFULSET.includes(member)),
      );
    return equalJson(frozen(object), frozen(old))
      ? []
      : [
          field.forbidden(
            'spec',
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
          ),
        ];
  },
};

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

export const daemonSet: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    object.metadata.annotations = { [TEMPLATE_GENERATION]: '1', ...object.metadata.annotations };
    defaultTemplate(spec);
    fill(spec, { updateStrategy: {}, revisionHistoryLimit: 10 });
    const strategy = objectAt(spec, 'updateStrategy');
    fill(strategy, { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate')
      fill(objectAt(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
  },
  prepareForCreate(object) {
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: '1' };
  },
  prepareForUpdate(object, old) {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? '1');
    const isChanged = !equalJson(specOf(object)['template'], (old['spec'] as JsonObject)['template']);
    object.metadata.annotations = {
      ...object.metadata.annotations,
      [TEMPLATE_GENERATION]: String(isChanged ? before + 1 : before),
    };
  },
  validate: (object) => templateErrors(specOf(object)),
  validateUpdate: selectorImmutable,
};
