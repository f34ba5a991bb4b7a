/** Rules of jobs, in jobs and in templates of cron jobs. */
import * as field from '../../schema/field-errors.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import {
  isAbsent,
  isEmpty,
  mustBeQualifiedName,
  notNegative,
  oneOf,
  structOf,
  structsOf,
  type MemberRule,
  type RuleTable,
  type StructRule,
} from './vocabulary.ts';
import { isDomainPath } from './network.ts';

const INDEXED_ONLY = 'requires indexed completion mode';

/** As upstream prints the policy. */
const successPolicyText = (policy: JsonObject): field.Verbatim =>
  new field.Verbatim({
    Rules: Array.isArray(policy['rules'])
      ? structsOf(policy['rules']).map(({ succeededIndexes = null, succeededCount = null }) => ({
          SucceededIndexes: succeededIndexes,
          SucceededCount: succeededCount,
        }))
      : null,
  });

function indexErrors(spec: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { backoffLimitPerIndex: perIndex, maxFailedIndexes, successPolicy, completions } = spec;
  if (!isAbsent(maxFailedIndexes) && isAbsent(perIndex))
    errors.push(field.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  if (spec['completionMode'] === 'Indexed') {
    if (isAbsent(completions))
      errors.push(field.required(`${path}.completions`, 'when completion mode is Indexed'));
    return errors;
  }
  for (const member of ['backoffLimitPerIndex', 'maxFailedIndexes'])
    if (!isAbsent(spec[member])) errors.push(field.invalid(`${path}.${member}`, spec[member], INDEXED_ONLY));
  if (!isAbsent(successPolicy))
    errors.push(
      field.invalid(`${path}.successPolicy`, successPolicyText(structOf(successPolicy)), INDEXED_ONLY),
    );
  return errors;
}

const successRules: StructRule = ({ completionMode, successPolicy }, path) =>
  completionMode === 'Indexed' && !isAbsent(successPolicy) && isEmpty(structOf(successPolicy)['rules'])
    ? [
        field.required(
          `${path}.successPolicy.rules`,
          'at least one rules must be specified when the successPolicy is specified',
        ),
      ]
    : [];

/** Rules about exit codes name containers of the template. */
const exitContainers: StructRule = ({ podFailurePolicy, template }, path) => {
  const pod = structOf(structOf(template)['spec']);
  const names = ['initContainers', 'containers'].flatMap((member) =>
    structsOf(pod[member]).map(({ name }) => name),
  );
  return structsOf(structOf(podFailurePolicy)['rules']).flatMap(({ onExitCodes }, i) => {
    const { containerName: name } = structOf(onExitCodes);
    return isAbsent(name) || names.includes(name)
      ? []
      : [
          field.invalid(
            `${path}.podFailurePolicy.rules[${String(i)}].onExitCodes.containerName`,
            name,
            'must be one of the container or initContainer names in the pod template',
          ),
        ];
  });
};

const replacement: MemberRule = (value, path, owner) =>
  isAbsent(owner['podFailurePolicy'])
    ? oneOf('Failed', 'TerminatingOrFailed')(value, path, owner)
    : oneOf('Failed')(value, path, owner);

/** Upstream leaves the value out of this message. */
const withoutValue = (path: string, detail: string): FieldError => ({
  field: path,
  type: 'FieldValueInvalid',
  message: `Invalid value: ${detail}`,
});

const failureRule: StructRule = ({ onExitCodes, onPodConditions }, path) => {
  const [codes, conditions] = [!isAbsent(onExitCodes), !isEmpty(onPodConditions)];
  if (codes && conditions)
    return [withoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported')];
  return codes || conditions
    ? []
    : [withoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required')];
};

/** One of these values, which the message about a missing one lists. */
const listed =
  (...values: readonly string[]): MemberRule =>
  (value, path, owner) =>
    isEmpty(value)
      ? [field.required(path, `valid values: [${values.map((each) => JSON.stringify(each)).join(' ')}]`)]
      : oneOf(...values)(value, path, owner);

/** Of a job that a cron job creates. */
const templateErrors: StructRule = ({ manualSelector, selector }, path) => [
  ...(manualSelector === true
    ? [field.notSupported(`${path}.spec.manualSelector`, true, ['nil', 'false'])]
    : []),
  ...(isAbsent(selector)
    ? []
    : [field.invalid(`${path}.spec.selector`, selector, '`selector` will be auto-generated')]),
];

const TIME_ZONE = 'timeZone must be nil or non-empty string';

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const timeZone: MemberRule = (value, path) => {
  if (isAbsent(value)) return [];
  const name = field.plainText(value);
  if (name === '') return [field.invalid(path, name, TIME_ZONE)];
  return isTimeZone(name) ? [] : [field.invalid(path, name, `unknown time zone ${name}`)];
};

export const batchRules: RuleTable = {
  'batch.v1.JobSpec': {
    members: {
      activeDeadlineSeconds: [notNegative],
      backoffLimit: [notNegative],
      backoffLimitPerIndex: [notNegative],
      completions: [notNegative],
      maxFailedIndexes: [notNegative],
      parallelism: [notNegative],
      ttlSecondsAfterFinished: [notNegative],
      completionMode: [oneOf('NonIndexed', 'Indexed')],
      managedBy: [
        (value, path, owner) => (value === '' ? [field.required(path)] : isDomainPath(value, path, owner)),
      ],
      podReplacementPolicy: [replacement],
    },
    together: [indexErrors, successRules, exitContainers],
  },
  'batch.v1.PodFailurePolicyRule': {
    members: { action: [listed('Count', 'FailIndex', 'FailJob', 'Ignore')] },
    together: [failureRule],
  },
  'batch.v1.PodFailurePolicyOnExitCodesRequirement': {
    members: {
      operator: [listed('In', 'NotIn')],
      values: [
        (value, path) =>
          isEmpty(value) ? [field.invalid(path, value, 'at least one value is required')] : [],
      ],
    },
  },
  'batch.v1.PodFailurePolicyOnPodConditionsPattern': {
    members: { type: [mustBeQualifiedName], status: [oneOf('False', 'True', 'Unknown')] },
  },
  'batch.v1.JobTemplateSpec': {
    together: [(template, path) => templateErrors(structOf(template['spec']), path)],
  },
  'batch.v1.CronJobSpec': {
    members: {
      concurrencyPolicy: [oneOf('Allow', 'Forbid', 'Replace')],
      failedJobsHistoryLimit: [notNegative],
      startingDeadlineSeconds: [notNegative],
      successfulJobsHistoryLimit: [notNegative],
      timeZone: [timeZone],
    },
  },
  'batch.v1.JobStatus': {
    members: { active: [notNegative], failed: [notNegative], succeeded: [notNegative] },
    together: [
      ({ ready = 0, active = 0 }, path) =>
        Number(ready) > Number(active)
          ? [field.invalid(`${path}.ready`, ready, 'cannot set more ready pods than active')]
          : [],
    ],
  },
};
