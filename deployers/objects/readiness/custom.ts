/** Custom checks: requirements on fields of selected objects. Decodes and evaluates them. Pure. */
import { z } from 'zod';
import { cutMiddle } from '../../../src/lib/cut.ts';
import { equal } from '../../../src/lib/json.ts';
import { JsonPathError } from '../../../src/lib/json-path.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import {
  CodecError,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
  optionalStringMap,
} from '../../sdk/codec.ts';
import { evaluate } from '../json-path.ts';
import type { ResourceRef } from '../manifests/model.ts';
import { PathBudget, stepsToCompare } from '../path-budget.ts';
import { notReady, ready, type Verdict } from './verdict.ts';

const operators = ['exists', '!', '=', '==', '!=', 'in', 'notin'] as const;
type Operator = (typeof operators)[number];

export interface FieldRequirement {
  readonly jsonPath: string;
  readonly operator: Operator;
  /** As configured: each should be an object with the key `value`. */
  readonly values: readonly unknown[];
}

interface LabelSelector {
  readonly apiVersion: string;
  readonly kind: string;
  readonly matchLabels: Readonly<Record<string, string>>;
}

export interface CustomCheck {
  readonly name: string;
  readonly isDisabled: boolean;
  readonly resources: readonly ResourceRef[];
  readonly labels?: LabelSelector | undefined;
  readonly requirements: readonly FieldRequirement[];
  readonly targetName?: string | undefined;
}

export interface ReadinessChecks {
  readonly isDefaultDisabled: boolean;
  readonly custom: readonly CustomCheck[];
}

// ---------------------------------------------------------------- configuration

const fieldRequirement = z.object({
  jsonPath: z.string().describe('Field to check: ".status.phase".'),
  operator: z.enum(operators).describe('How the field is compared.'),
  values: z
    .array(z.object({ value: z.unknown().describe('A value of any type.') }))
    .nullish()
    .describe('Values to compare with: one for = and !=, several for in and notin.'),
});

export const readinessSchema = z
  .object({
    disableDefault: z
      .boolean()
      .nullish()
      .describe('Skips the default checks of well-known kinds. Default false.'),
    custom: z
      .array(
        z.object({
          name: z.string().describe('Name of the check, for messages.'),
          disabled: z.boolean().nullish().describe('Skips the check. Default false.'),
          resourceSelector: z
            .array(
              z.object({
                apiVersion: z.string().nullish().describe('API version of the object.'),
                kind: z.string().nullish().describe('Kind of the object.'),
                name: z.string().nullish().describe('Name of the object.'),
                namespace: z.string().nullish().describe('Namespace of the object.'),
              }),
            )
            .nullish()
            .describe('Objects to check, by name.'),
          labelSelector: z
            .object({
              apiVersion: z.string().nullish().describe('API version of the objects.'),
              kind: z.string().nullish().describe('Kind of the objects.'),
              matchLabels: z.record(z.string(), z.string()).describe('Labels that the objects have.'),
            })
            .nullish()
            .describe('Objects to check, by label.'),
          requirements: z.array(fieldRequirement).describe('What the fields of the objects must be.'),
          targetName: z.string().nullish().describe('Target to read from. Default: the target of the item.'),
        }),
      )
      .nullish()
      .describe('More checks. The job waits until all succeed.'),
  })
  .nullish()
  .describe('When the objects count as ready.');

/** @throws CodecError */
export function decodeReadiness(value: unknown, path: string): ReadinessChecks {
  const fields = optionalObject(value, path) ?? {};
  const custom = optionalList(fields['custom'], `${path}.custom`) ?? [];
  return {
    isDefaultDisabled: optionalBoolean(fields['disableDefault'], `${path}.disableDefault`) ?? false,
    custom: custom.map((check, i) => decodeCheck(check, `${path}.custom[${String(i)}]`)),
  };
}

const required = (path: string, message: string): CodecError =>
  new CodecError({ step: 'validate', message: `${path}: Required value: ${message}` });

function decodeCheck(value: unknown, path: string): CustomCheck {
  if (!isObject(value)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  const name = optionalString(value['name'], `${path}.name`);
  const resources = (optionalList(value['resourceSelector'], `${path}.resourceSelector`) ?? []).map(
    (entry, i) => decodeRef(entry, `${path}.resourceSelector[${String(i)}]`),
  );
  const labels = decodeLabels(value['labelSelector'], `${path}.labelSelector`);
  const requirements = optionalList(value['requirements'], `${path}.requirements`) ?? [];
  if (!name) throw required(`${path}.name`, 'must not be empty');
  if (resources.length === 0 && !labels) {
    throw required(
      `${path}.resourceSelector/labelSelector`,
      'must have either a resource or a set of labels',
    );
  }
  if (requirements.length === 0) {
    throw required(`${path}.requirements`, 'must have at least one resource requirement');
  }
  return {
    name,
    isDisabled: optionalBoolean(value['disabled'], `${path}.disabled`) ?? false,
    resources,
    labels,
    requirements: requirements.map((r, i) => decodeRequirement(r, `${path}.requirements[${String(i)}]`)),
    targetName: optionalString(value['targetName'], `${path}.targetName`) || undefined,
  };
}

function decodeRef(value: unknown, path: string): ResourceRef {
  if (!isObject(value)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  const namespace = optionalString(value['namespace'], `${path}.namespace`);
  return {
    apiVersion: optionalString(value['apiVersion'], `${path}.apiVersion`) ?? '',
    kind: optionalString(value['kind'], `${path}.kind`) ?? '',
    name: optionalString(value['name'], `${path}.name`) ?? '',
    ...(namespace && { namespace }),
  };
}

function decodeLabels(value: unknown, path: string): LabelSelector | undefined {
  const fields = optionalObject(value, path);
  if (!fields) return undefined;
  const matchLabels = optionalStringMap(fields['matchLabels'], `${path}.matchLabels`) ?? {};
  if (Object.keys(matchLabels).length === 0) {
    throw required(`${path}.matchLabels`, 'must have at least one label to select on');
  }
  return {
    apiVersion: optionalString(fields['apiVersion'], `${path}.apiVersion`) ?? '',
    kind: optionalString(fields['kind'], `${path}.kind`) ?? '',
    matchLabels,
  };
}

function decodeRequirement(value: unknown, path: string): FieldRequirement {
  if (!isObject(value)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  const jsonPath = optionalString(value['jsonPath'], `${path}.jsonPath`);
  const given = optionalString(value['operator'], `${path}.operator`) ?? '';
  const values = optionalList(value['values'], `${path}.values`) ?? [];
  if (!jsonPath) throw required(`${path}.jsonPath`, 'must not be empty');
  const operator = operators.find((o) => o === given);
  if (!operator)
    throw new CodecError({
      step: 'validate',
      message: `${path}.operator: Invalid value: "${given}": is not a valid operator`,
    });
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    throw required(`${path}.values`, 'must have at least one value to compare to');
  }
  if ((operator === '=' || operator === '==' || operator === '!=') && values.length !== 1) {
    throw new CodecError({
      step: 'validate',
      message: `${path}.values: Invalid value: "${operator}": must have exactly one value to compare to`,
    });
  }
  return { jsonPath, operator, values };
}

// ---------------------------------------------------------------- evaluation

/** Whether an object meets every requirement. @throws ConfigurationError if the budget is exceeded */
export function customVerdict(
  object: unknown,
  requirements: readonly FieldRequirement[],
  budget: PathBudget = new PathBudget(),
): Verdict {
  for (const requirement of requirements) {
    const verdict = meets(object, requirement, budget);
    if (!verdict.isReady) return verdict;
  }
  return ready;
}

function meets(
  object: unknown,
  { jsonPath, operator, values }: FieldRequirement,
  budget: PathBudget,
): Verdict {
  let results: readonly unknown[] | undefined;
  try {
    results = evaluate(jsonPath, object, budget);
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    return notReady(error.message);
  }
  const isThere = results !== undefined && results.length > 0;
  if (operator === '!') return isThere ? mismatch(jsonPath) : ready;
  if (!results || results.length === 0) return notReady(`field with JSON path ${jsonPath} does not exist`);
  if (operator === 'exists') return ready;
  const malformed = values.findIndex((value) => !isObject(value) || !Object.hasOwn(value, 'value'));
  if (malformed >= 0) return notReady(`object at index ${String(malformed)} does not contain the value key`);
  const wanted = values.map((value) => ownField(value, 'value'));
  const each = wanted.reduce((sum: number, value) => sum + stepsToCompare(value), 0);
  budget.spend(results.length * each, cutMiddle(jsonPath, 200));
  const isAmong = (result: unknown): boolean => wanted.some((value) => equal(result, value));
  const isNegated = operator === '!=' || operator === 'notin';
  return results.every((result) => isAmong(result) !== isNegated) ? ready : mismatch(jsonPath);
}

// The misspelling is upstream's, and users search for it.
const mismatch = (path: string): Verdict =>
  notReady(`resource requirement is not fulfiled for field ${path}`);
