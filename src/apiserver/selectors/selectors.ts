/** Selectors of list, watch and deletecollection: label selectors as strings and objects, and field selectors. */
import { table } from '../../lib/objects.ts';
import { invalid, joinErrors, plainText } from '../schema/field-errors.ts';
import { isQualifiedName, isLabelValue } from '../../lib/names.ts';
import { tokenize, type Token, type TokenType } from './tokens.ts';
import { isObject, type FieldError } from '../types.ts';

/** An invalid selector; answered with 400 BadRequest and this message. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt';

interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>> | undefined;

export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  readonly isEmpty: boolean;
  matches(labels: Labels): boolean;
}

const selectorOf = (requirements: readonly LabelRequirement[]): LabelSelector => ({
  requirements,
  isEmpty: requirements.length === 0,
  matches: (labels) => requirements.every((requirement) => holds(requirement, labels)),
});

/** Matches nothing, like an absent LabelSelector object. */
const nothing: LabelSelector = { requirements: [], isEmpty: false, matches: () => false };

function holds({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'in':
    case '=':
    case '==':
      return value !== undefined && values.includes(value);
    case 'notin':
    case '!=':
      return value === undefined || !values.includes(value);
    case 'gt':
    case 'lt': {
      if (value === undefined || !INTEGER.test(value)) return false;
      const [left, right] = [BigInt(value), BigInt(values[0] ?? '0')];
      return operator === 'gt' ? left > right : left < right;
    }
  }
}

const INTEGER = /^-?\d+$/;

/**
 * Parses `app=web,tier in (a,b),!old`.
 * @throws SelectorError with upstream's message
 */
export function parseLabelSelector(text: string): LabelSelector {
  const reader = new Reader(tokenize(text));
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const next = reader.peek();
    if (next.type === 'end') return selectorOf(requirements);
    if (next.type !== 'identifier' && next.type !== '!')
      throw new SelectorError(`found '${next.text}', expected: !, identifier, or 'end of string'`);
    requirements.push(readRequirement(reader));
    const separator = reader.take();
    if (separator.type === 'end') return selectorOf(requirements);
    if (separator.type !== ',')
      throw new SelectorError(`found '${separator.text}', expected: ',' or 'end of string'`);
    const after = reader.peek();
    if (after.type !== 'identifier' && after.type !== '!')
      throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
  }
}

/** Reads the tokens; `in` and `notin` are normal words except at the position of an operator. */
class Reader {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(): Token {
    const token = this.#tokens[this.#position] ?? { type: 'end', text: '' };
    return token.type === 'in' || token.type === 'notin' ? { type: 'identifier', text: token.text } : token;
  }

  take(): Token {
    const token = this.peek();
    this.#position++;
    return token;
  }

  takeOperator(): Token {
    const token = this.#tokens[this.#position] ?? { type: 'end', text: '' };
    this.#position++;
    return token;
  }
}

const fail = (why: string): SelectorError => new SelectorError(`unable to parse requirement: ${why}`);

function readRequirement(reader: Reader): LabelRequirement {
  let token = reader.take();
  const isNegated = token.type === '!';
  if (isNegated) token = reader.take();
  if (token.type !== 'identifier') throw fail(`found '${token.text}', expected: identifier`);
  const key = token.text;
  const bad = isQualifiedName(key);
  if (bad.length > 0) throw fail(joinErrors([invalid('<nil>', key, bad.join('; '))]));
  const next = reader.peek().type;
  if (isNegated) return { key, operator: '!', values: [] };
  if (next === 'end' || next === ',') return { key, operator: 'exists', values: [] };
  const operator = readOperator(reader);
  const values = operator === 'in' || operator === 'notin' ? readSet(reader) : [readValue(reader)];
  return checked({ key, operator, values });
}

const OPERATORS: Readonly<Partial<Record<TokenType, LabelOperator>>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

function readOperator(reader: Reader): LabelOperator {
  const token = reader.takeOperator();
  const operator = OPERATORS[token.type];
  if (operator === undefined) throw fail(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
  return operator;
}

function readValue(reader: Reader): string {
  const next = reader.peek();
  if (next.type === 'end' || next.type === ',') return '';
  const token = reader.take();
  if (token.type !== 'identifier') throw fail(`found '${token.text}', expected: identifier`);
  return token.text;
}

/** `(a,b)`; an empty string between two separators is a value. */
function readSet(reader: Reader): string[] {
  const open = reader.take();
  if (open.type !== '(') throw fail(`found '${open.text}' expected: '('`);
  const first = reader.peek();
  if (first.type === ')') {
    reader.take();
    return [''];
  }
  if (first.type !== 'identifier' && first.type !== ',')
    throw fail(`found '${first.text}', expected: ',', ')' or identifier`);
  const values = new Set<string>();
  for (;;) {
    const token = reader.take();
    if (token.type === 'identifier') {
      values.add(token.text);
      const next = reader.peek();
      if (next.type === ',') continue;
      if (next.type !== ')') throw fail(`found '${next.text}', expected: ',' or ')'`);
      break;
    }
    if (token.type !== ',') throw fail(`found '${token.text}', expected: ',', or identifier`);
    if (values.size === 0) values.add('');
    const next = reader.peek();
    if (next.type === ')') {
      values.add('');
      break;
    }
    if (next.type === ',') {
      reader.take();
      values.add('');
    }
  }
  reader.take();
  return [...values].sort();
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const errors = requirementErrors(requirement, '');
  if (errors.length > 0) throw fail(joinErrors(errors));
  return requirement;
}

function requirementErrors({ key, operator, values }: LabelRequirement, path: string): FieldError[] {
  const errors: FieldError[] = [];
  values.forEach((value, index) => {
    if ((operator === 'gt' || operator === 'lt') && !INTEGER.test(value)) {
      const why = "for 'Gt', 'Lt' operators, the value must be an integer";
      errors.push(invalid(`${path}values[${index}]`, value, why));
    }
    const bad = isLabelValue(value);
    if (bad.length > 0) errors.push(invalid(`${path}values[${index}][${key}]`, value, bad.join('; ')));
  });
  return errors;
}

const OBJECT_OPERATORS: Readonly<Record<string, LabelOperator>> = table({
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
});

/**
 * The selector of a LabelSelector object (`matchLabels`, `matchExpressions`): absent matches nothing, empty matches
 * everything.
 * @throws SelectorError for an unknown operator
 */
export function labelSelectorOf(object: unknown): LabelSelector {
  if (!isObject(object)) return nothing;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries((object['matchLabels'] ?? {}) as Record<string, string>)) {
    requirements.push({ key, operator: 'in', values: [value] });
  }
  for (const expression of (object['matchExpressions'] ?? []) as readonly Record<string, unknown>[]) {
    const operator = OBJECT_OPERATORS[plainText(expression['operator'])];
    if (!operator)
      throw new SelectorError(
        `${JSON.stringify(expression['operator'] ?? '')} is not a valid label selector operator`,
      );
    const values = (expression['values'] ?? []) as readonly string[];
    requirements.push({ key: plainText(expression['key']), operator, values });
  }
  return selectorOf(requirements);
}

const VALIDATED_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** Errors in a LabelSelector object, for strategies. */
export function labelSelectorErrors(object: unknown, path: string): FieldError[] {
  if (!isObject(object)) return [];
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries((object['matchLabels'] ?? {}) as Record<string, string>)) {
    for (const why of isQualifiedName(key)) errors.push(invalid(`${path}.matchLabels`, key, why));
    for (const why of isLabelValue(value)) errors.push(invalid(`${path}.matchLabels`, value, why));
  }
  ((object['matchExpressions'] ?? []) as readonly Record<string, unknown>[]).forEach((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const operator = plainText(expression['operator']);
    const values = (expression['values'] ?? []) as readonly string[];
    if (!VALIDATED_OPERATORS.includes(operator)) {
      errors.push(invalid(`${at}.operator`, operator, 'not a valid selector operator'));
    } else if (operator.endsWith('In') && values.length === 0) {
      const why = "must be specified when `operator` is 'In' or 'NotIn'";
      errors.push({ field: `${at}.values`, type: 'FieldValueRequired', message: `Required value: ${why}` });
    } else if (operator.endsWith('Exist') || operator === 'Exists') {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      if (values.length > 0)
        errors.push({ field: `${at}.values`, type: 'FieldValueForbidden', message: `Forbidden: ${why}` });
    }
    for (const why of isQualifiedName(plainText(expression['key'])))
      errors.push(invalid(`${at}.key`, expression['key'] ?? '', why));
  });
  return errors;
}
