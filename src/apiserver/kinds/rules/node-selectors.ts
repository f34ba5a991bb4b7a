/** Rules of selectors of nodes, in pods and in volumes. */
import * as field from '../../schema/field-errors.ts';
import { isQualifiedName } from '../../../lib/names.ts';
import { plainText } from '../../schema/field-errors.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import { isEmpty, mustBeBetween, required, structsOf, type RuleTable } from './vocabulary.ts';

const VALUES_NEEDED = "must be specified when `operator` is 'In' or 'NotIn'";
const VALUES_USELESS = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
const ONE_VALUE = "must be specified single value when `operator` is 'Lt' or 'Gt'";

/** What is wrong with the values for an operator. */
function operatorErrors({ operator = '', values }: JsonObject, at: string): FieldError[] {
  const count = Array.isArray(values) ? values.length : 0;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count === 0 ? [field.required(`${at}.values`, VALUES_NEEDED)] : [];
    case 'Exists':
    case 'DoesNotExist':
      return count > 0 ? [field.forbidden(`${at}.values`, VALUES_USELESS)] : [];
    case 'Gt':
    case 'Lt':
      return count === 1 ? [] : [field.required(`${at}.values`, ONE_VALUE)];
    default:
      return [field.invalid(`${at}.operator`, operator, 'not a valid selector operator')];
  }
}

const expressionErrors = (expression: JsonObject, at: string): FieldError[] => [
  ...operatorErrors(expression, at),
  ...isQualifiedName(plainText(expression['key'])).map((why) =>
    field.invalid(`${at}.key`, expression['key'] ?? '', why),
  ),
];

const FIELD_KEYS = ['metadata.name'];

function fieldErrors({ key = '', operator = '', values }: JsonObject, at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(field.invalid(`${at}.operator`, operator, 'not a valid selector operator'));
  else if (!Array.isArray(values) || values.length !== 1)
    errors.push(
      field.required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (!FIELD_KEYS.includes(key as string))
    errors.push(field.invalid(`${at}.key`, key, 'not a valid field selector key'));
  return errors;
}

/** Both lists have items of one type, so their rules are those of the term. */
const termErrors = (term: JsonObject, path: string): FieldError[] => [
  ...structsOf(term['matchExpressions']).flatMap((each, i) =>
    expressionErrors(each, `${path}.matchExpressions[${String(i)}]`),
  ),
  ...structsOf(term['matchFields']).flatMap((each, i) =>
    fieldErrors(each, `${path}.matchFields[${String(i)}]`),
  ),
];

export const nodeSelectorRules: RuleTable = {
  'core.v1.NodeSelector': {
    members: { nodeSelectorTerms: [required('must have at least one node selector term')] },
  },
  'core.v1.NodeSelectorTerm': { together: [termErrors] },
  'core.v1.PreferredSchedulingTerm': {
    members: { weight: [mustBeBetween(1, 100, 'must be in the range 1-100')] },
  },
  'core.v1.VolumeNodeAffinity': {
    members: { required: [required('must specify required node constraints')] },
  },
  'core.v1.TopologySelectorTerm': {
    together: [
      ({ matchLabelExpressions }, path) => {
        // As if it were the same term twice.
        if (isEmpty(matchLabelExpressions)) return [field.duplicate(`${path}.matchLabelExpressions`, '')];
        const keys = structsOf(matchLabelExpressions).map(({ key }) => key ?? '');
        return keys.flatMap((key, i) =>
          keys.indexOf(key) < i
            ? [field.duplicate(`${path}.matchLabelExpressions[${String(i)}].key`, key)]
            : [],
        );
      },
      ({ matchLabelExpressions }, path) =>
        structsOf(matchLabelExpressions).flatMap(({ key = '', values }, i) => {
          const at = `${path}.matchLabelExpressions[${String(i)}]`;
          return [
            ...(isEmpty(values) ? [field.required(`${at}.values`)] : []),
            ...isQualifiedName(plainText(key)).map((why) => field.invalid(`${at}.key`, key, why)),
          ];
        }),
    ],
  },
};
