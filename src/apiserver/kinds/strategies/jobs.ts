/** Jobs and CronJobs: defaults, generated selectors, mutable fields. */
import { InvalidCron, parseCron } from '../../../lib/cron.ts';
import { append } from '../../../lib/lists.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { equalJson, isObject } from '../../types.ts';
import type { FieldError, JsonObject, KubeObject } from '../../types.ts';
import { fill, listOf, objectAt, podSpecErrors } from './pod-spec.ts';
import { defaultTemplate, specOf } from './workloads.ts';

function defaultJobSpec(spec: JsonObject): void {
  defaultTemplate(spec);
  if (spec['completions'] === undefined && spec['parallelism'] === undefined)
    fill(spec, { completions: 1, parallelism: 1 });
  fill(spec, {
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: isObject(spec['podFailurePolicy']) ? 'Failed' : 'TerminatingOrFailed',
    manualSelector: false,
  });
  const failures = isObject(spec['podFailurePolicy']) ? spec['podFailurePolicy'] : {};
  for (const rule of listOf(failures, 'rules'))
    for (const condition of listOf(rule, 'onPodConditions')) fill(condition, { status: 'True' });
}

function jobPodErrors(spec: JsonObject, path: string): FieldError[] {
  const template = isObject(spec['template']) ? spec['template'] : {};
  const pod = isObject(template['spec']) ? template['spec'] : {};
  const at = `${path}.template.spec`;
  const errors = podSpecErrors(pod, at);
  if (pod['restartPolicy'] !== 'OnFailure' && pod['restartPolicy'] !== 'Never')
    errors.push(field.required(`${at}.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  return errors;
}

const templateLabels = (spec: JsonObject): Record<string, string> =>
  (objectAt(objectAt(spec, 'template'), 'metadata')['labels'] ?? {}) as Record<string, string>;

/** Finished pods stay finished. */
const counterErrors = (object: KubeObject, old: KubeObject): FieldError[] =>
  (['succeeded', 'failed'] as const).flatMap((member) => {
    const [count, before] = [object, old].map((each) => Number(objectAt(each, 'status')[member] ?? 0));
    return Number(count) < Number(before)
      ? [field.invalid(`status.${member}`, count, `cannot decrease the ${member} counter`)]
      : [];
  });

export const job: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    defaultJobSpec(spec);
    const labels = templateLabels(spec);
    if (Object.keys(object.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0)
      object.metadata.labels = { ...labels };
  },
  prepareForCreate(object) {
    const spec = specOf(object);
    if (spec['manualSelector'] === true) return;
    const { uid = '', name, labels: own } = object.metadata;
    const meta = objectAt(objectAt(spec, 'template'), 'metadata');
    const isDefaulted = equalJson(own ?? {}, templateLabels(spec));
    const labels = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': name,
      'controller-uid': uid,
      'job-name': name,
    };
    meta['labels'] = { ...(meta['labels'] as JsonObject | undefined), ...labels };
    if (isDefaulted) object.metadata.labels = { ...templateLabels(spec) };
    const selector = objectAt(spec, 'selector');
    selector['matchLabels'] = {
      ...(selector['matchLabels'] as JsonObject | undefined),
      'batch.kubernetes.io/controller-uid': uid,
    };
  },
  validate(object) {
    const spec = specOf(object);
    const errors = jobPodErrors(spec, 'spec');
    if (isObject(spec['selector'])) return errors;
    errors.push(field.required('spec.selector'));
    const why = '`selector` does not match template `labels`';
    errors.push(field.invalid('spec.template.metadata.labels', templateLabels(spec), why));
    return errors;
  },
  validateUpdate(object, old) {
    const errors = counterErrors(object, old);
    for (const member of ['completions', 'selector', 'template', 'completionMode'] as const) {
      const value = specOf(object)[member];
      if (!equalJson(value, (old['spec'] as JsonObject)[member]))
        errors.push(field.invalid(`spec.${member}`, value, 'field is immutable'));
    }
    return errors;
  },
};

function scheduleErrors({ schedule }: JsonObject): FieldError[] {
  const at = 'spec.schedule';
  if (typeof schedule !== 'string' || schedule === '') return [field.required(at)];
  if (schedule.includes('TZ='))
    return [field.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')];
  try {
    parseCron(schedule);
    return [];
  } catch (error) {
    if (error instanceof InvalidCron) return [field.invalid(at, schedule, error.message)];
    throw error;
  }
}

export const cronJob: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    fill(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    const template = objectAt(spec, 'jobTemplate');
    objectAt(template, 'metadata');
    const inner = objectAt(template, 'spec');
    defaultTemplate(inner);
  },
  validate(object) {
    const spec = specOf(object);
    const errors: FieldError[] = [];
    append(errors, scheduleErrors(spec));
    const template = isObject(spec['jobTemplate']) ? spec['jobTemplate'] : {};
    const inner = isObject(template['spec']) ? template['spec'] : {};
    return [...errors, ...jobPodErrors(inner, 'spec.jobTemplate.spec')];
  },
};
