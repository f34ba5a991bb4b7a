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

/** How messages differ between kinds. */
interface SelectorStyle {
  /** In the message about an empty selector. */
  readonly kind: string;
  /** Whether a missing selector is reported as such. */
  readonly isRequired: boolean;
  /** The detail of the message about an invalid selector, which comes after those about its parts. */
  readonly invalid?: string;
}

/** Upstream has copied the name of the kind to replica sets. */
const DEPLOYMENT: SelectorStyle = {
  kind: 'deployment',
  isRequired: true,
  invalid: 'invalid label selector',
};
const STATEFUL_SET: SelectorStyle = { kind: 'statefulset', isRequired: true, invalid: '' };
const DAEMON_SET: SelectorStyle = { kind: 'daemonset', isRequired: false };

/** The selector must exist, be valid, and match the template's labels; the pods are always restarted. */
function templateErrors(
  spec: JsonObject,
  { kind, isRequired, invalid }: SelectorStyle = DEPLOYMENT,
): FieldError[] {
  const errors: FieldError[] = [];
  const selector = spec['selector'];
  const template = isObject(spec['template']) ? spec['template'] : {};
  const meta = isObject(template['metadata']) ? template['metadata'] : {};
  const labels = (meta['labels'] ?? {}) as Record<string, string>;
  if (!isObject(selector)) {
    if (isRequired) errors.push(field.required('spec.selector'));
    errors.push(mismatch(meta['labels']));
  } else {
    const isEmpty = !isObject(selector['matchLabels']) && !Array.isArray(selector['matchExpressions']);
    if (isEmpty)
      errors.push(field.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`));
    else if (labelSelectorErrors(selector, 'spec.selector').length > 0) {
      if (invalid !== undefined)
        errors.push(field.invalid('spec.selector', new field.Verbatim(selector), invalid));
    } else if (!labelSelectorOf(selector).matches(labels)) errors.push(mismatch(meta['labels']));
  }
  append(errors, restartedPodErrors(template, 'spec.template.spec', claimNames(spec)));
  return errors;
}

/** Of pods that workloads keep running. */
function restartedPodErrors(
  template: JsonObject,
  path: string,
  claims: readonly string[] = [],
): FieldError[] {
  const pod = isObject(template['spec']) ? template['spec'] : {};
  const errors = podSpecErrors(pod, path, claims);
  const policy = pod['restartPolicy'];
  if (policy !== 'Always') errors.push(field.notSupported(`${path}.restartPolicy`, policy, ['Always']));
  return errors;
}

const claimNames = (spec: JsonObject): string[] =>
  listOf(spec, 'volumeClaimTemplates').map((claim) => textOfName(claim));

/** Each template of claims becomes a volume of its name. */
const claimNameErrors = (spec: JsonObject): FieldError[] =>
  claimNames(spec).flatMap((name, i) =>
    name === ''
      ? ['name', 'persistentVolumeClaim.claimName'].map((member) =>
          field.required(`spec.template.spec.volumes[${i}].${member}`),
        )
      : [],
  );

/** How often names collided is never forgotten. */
function collisionErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const count = ({ status }: KubeObject): number =>
    Number(isObject(status) ? (status['collisionCount'] ?? 0) : 0);
  return count(object) < count(old)
    ? [field.invalid('status.collisionCount', count(object), 'cannot be decremented')]
    : [];
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
  validate(object) {
    const template = objectAt(object, 'template');
    return podSpecErrors(objectAt(template, 'spec'), 'template.spec');
  },
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
  validateUpdate: (object, old) => [...selectorImmutable(object, old), ...collisionErrors(object, old)],
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
    fill(spec, { replicas: 1 });
    if (!isObject(spec['template'])) return;
    defaultTemplate(spec);
    const labels = objectAt(spec['template'], 'metadata')['labels'];
    if (!isObject(labels)) return;
    fill(spec, { selector: { ...labels } });
    if (Object.keys(object.metadata.labels ?? {}).length === 0)
      object.metadata.labels = { ...(labels as Record<string, string>) };
  },
  validate(object) {
    const { selector, template, ...rest } = specOf(object);
    const errors = replicasErrors(rest);
    const wanted = isObject(selector) ? selector : {};
    if (Object.keys(wanted).length === 0) errors.push(field.required('spec.selector'));
    if (!isObject(template)) return [...errors, field.required('spec.template')];
    const { labels } = objectAt(template, 'metadata');
    const actual = isObject(labels) ? labels : {};
    if (Object.entries(wanted).some(([key, value]) => actual[key] !== value)) errors.push(mismatch(labels));
    return [...errors, ...restartedPodErrors(template, 'spec.template.spec')];
  },
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
  validate(object) {
    const spec = specOf(object);
    return [...replicasErrors(spec), ...templateErrors(spec, STATEFUL_SET), ...claimNameErrors(spec)];
  },
  validateUpdate(object, old) {
    const frozen = (o: KubeObject): JsonObject =>
      Object.fromEntries(
        Object.entries(specOf(o)).filter(([member]) => !MUTABLE_STATEFULSET.includes(member)),
      );
    const errors = collisionErrors(object, old);
    return equalJson(frozen(object), frozen(old))
      ? errors
      : [
          ...errors,
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
  validate: (object) => templateErrors(specOf(object), DAEMON_SET),
  validateUpdate: (object, old) => [...selectorImmutable(object, old), ...collisionErrors(object, old)],
};
