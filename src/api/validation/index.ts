/**
 * Validates objects of four kinds. Webhook and controllers use the same rules, so that without a webhook the
 * controllers refuse an object with the same message. Only the webhook checks two of the rules, because existing
 * controllers, also upstream's, accept objects that break them.
 */
import type { z } from 'zod';
import { pathText } from '../../lib/findings.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { deployItem } from '../kinds/deployitem.ts';
import {
  checkDeployItemCount,
  execution,
  readDeployItems,
  UnreadableDeployItems,
} from '../kinds/execution.ts';
import { installation } from '../kinds/installation.ts';
import { target } from '../kinds/target.ts';
import { labels, TRUE } from '../labels.ts';
import { defaultLimits, type InstallationLimits } from '../limits.ts';
import { deployItemProblems, targetWithoutNamespace, typeChange } from './deployitem.ts';
import { templateProblems } from './execution.ts';
import { aggregate, invalidStructure, type FieldError } from './fields.ts';
import { installationProblems, repeatedExports } from './installation.ts';
import { targetSpecProblems } from './target.ts';

/** Plural names, as in the API. */
export const validatedResources = ['installations', 'deployitems', 'executions', 'targets'] as const;
export type ValidatedResource = (typeof validatedResources)[number];

/** `unreadable`: the object does not match the schema. `wrong`: it breaks a rule. */
export interface Refusal {
  readonly kind: 'unreadable' | 'wrong';
  readonly message: string;
}

type Check = (object: unknown, limits: InstallationLimits) => Refusal | undefined;

/** `job`: rules for all controllers. `admission`: these rules, and rules for new objects only. */
interface Checks {
  readonly job: Check;
  readonly admission: Check;
}

const checks: Readonly<Record<ValidatedResource, Checks>> = {
  installations: checksOf(installation, installationProblems, repeatedExports),
  deployitems: checksOf(deployItem, deployItemProblems, targetWithoutNamespace),
  executions: withCountCheck(
    checksOf(execution, ({ spec }, limits) =>
      templateProblems(readDeployItems(spec, limits), 'spec.deployItems'),
    ),
  ),
  targets: checksOf(target, ({ spec }) => targetSpecProblems(spec)),
};

/** Why the webhook refuses an object, whatever its labels; undefined if the object is valid. */
export const admissionRefusal = (
  resource: ValidatedResource,
  object: unknown,
  limits: InstallationLimits = defaultLimits,
): Refusal | undefined => checks[resource].admission(object, limits);

/**
 * Why a job with this object ends before it starts; undefined if the object is valid. An object with the label that
 * skips validation is only refused if it is unreadable.
 */
export function refusalForJob(
  resource: ValidatedResource,
  object: unknown,
  limits: InstallationLimits = defaultLimits,
): string | undefined {
  const refusal = checks[resource].job(object, limits);
  return refusal?.kind === 'wrong' && skipsValidation(object) ? undefined : refusal?.message;
}

/** Why a change is refused; undefined if it is allowed. */
export function changeRefusal(resource: ValidatedResource, old: unknown, now: unknown): string | undefined {
  if (resource !== 'deployitems') return undefined;
  const [before, after] = [deployItem.safeParse(old), deployItem.safeParse(now)];
  return before.success && after.success ? typeChange(before.data, after.data) : undefined;
}

/** Whether the object has the label that skips validation. */
export const skipsValidation = (object: unknown): boolean =>
  ownField(ownField(ownField(object, 'metadata'), 'labels'), labels.skipValidation) === TRUE;

type Rules<T> = (object: T, limits: InstallationLimits) => readonly FieldError[];

function checksOf<T>(schema: z.ZodType<T>, rules: Rules<T>, admissionRules: Rules<T> = () => []): Checks {
  return {
    job: check(schema, rules),
    admission: check(schema, (object, limits) => [
      ...rules(object, limits),
      ...admissionRules(object, limits),
    ]),
  };
}

/**
 * Parsing takes time and memory for each item of a list, so a list that is too long is refused before it is parsed.
 */
function withCountCheck({ job, admission }: Checks): Checks {
  const counted =
    (next: Check): Check =>
    (object, limits) =>
      refuseUnreadable(() => {
        checkDeployItemCount(ownField(ownField(object, 'spec'), 'deployItems'), 'deployItems', limits);
        return next(object, limits);
      });
  return { job: counted(job), admission: counted(admission) };
}

function check<T>(schema: z.ZodType<T>, rules: Rules<T>): Check {
  return (object, limits) => {
    const parsed = schema.safeParse(isObject(object) ? object : {});
    if (!parsed.success) return unreadable(parsed.error);
    return refuseUnreadable(() => {
      const message = aggregate(rules(parsed.data, limits));
      return message === undefined ? undefined : { kind: 'wrong', message };
    });
  };
}

function refuseUnreadable(validate: () => Refusal | undefined): Refusal | undefined {
  try {
    return validate();
  } catch (error) {
    if (!(error instanceof UnreadableDeployItems)) throw error;
    return { kind: 'unreadable', message: error.message };
  }
}

function unreadable({ issues }: z.ZodError): Refusal {
  const errors = issues.map(({ path, message }) => invalidStructure(pathText(path), message));
  return { kind: 'unreadable', message: aggregate(errors) ?? 'the object cannot be read' };
}
