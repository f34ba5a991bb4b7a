/** The built-in conditions of `validate` and `check`. */
import { table } from '../../../lib/objects.ts';
import { formatGoFloat } from '../../../lib/go-float.ts';
import { compareStrings } from '../../go/go-string.ts';
import { parseCidr, parseIp } from '../../go/ip.ts';
import { quoteString } from '../../go/quote.ts';
import { testRegexp } from '../../go/regexp.ts';
import { isEqual } from '../tree/equivalence.ts';
import { isFields, isList, type Value } from '../tree/node.ts';
import { Unresolvable } from '../function.ts';
import { versionVerdict } from '../functions/versions.ts';
import { parseCertificate, parsePrivateKey, parsePublicKey } from '../functions/x509-keys.ts';
import { typeName, type SpiffValue } from '../value.ts';
import { isExpr } from '../syntax/ast.ts';
import { isTruthy } from './truth.ts';

/** Whether a value meets a condition, with a message. */
export interface Verdict {
  readonly holds: boolean;
  readonly text: string;
}

/** The condition is invalid. */
export class ConditionProblem extends Error {}
export const verdict = (holds: boolean, good: string, bad: string): Verdict => ({
  holds,
  text: holds ? good : bad,
});

export interface Check {
  readonly value: Value;
  readonly args: readonly Value[];
  /** Checks another condition on a value. */
  readonly ask: (value: Value, condition: Value) => Verdict;
}
type Validator = (check: Check) => Verdict;

export function textOf(operator: string, value: Value): string {
  if (typeof value === 'string') return value;
  throw new ConditionProblem(`${operator}: ${operator} requires string, but got ${typeName(value)}`);
}

function only(operator: string, args: readonly Value[], what: string): Value {
  const [arg] = args;
  if (arg === undefined || args.length !== 1) throw new ConditionProblem(`${operator} requires ${what}`);
  return arg;
}

const plain = (value: bigint | number): string =>
  typeof value === 'number' ? formatGoFloat(value, 'g') : String(value);

function ordered(
  [operator, good, bad]: readonly [string, string, string],
  holds: (a: number | bigint, b: number | bigint) => boolean,
): Validator {
  return ({ value, args }) => {
    const limit = only(operator, args, 'a value argument');
    const isNumber = (it: Value): it is number | bigint => typeof it === 'number' || typeof it === 'bigint';
    if (typeof limit === 'string') {
      if (typeof value !== 'string') throw new ConditionProblem('must be string to compare to string');
      return verdict(holds(compareStrings(value, limit), 0), `${good} ${limit}`, `${bad} ${limit}`);
    }
    if (!isNumber(limit)) throw new ConditionProblem(`invalid type ${typeName(limit)}`);
    if (!isNumber(value)) throw new ConditionProblem('must be number to compare to number');
    return verdict(holds(value, limit), `${good} ${plain(limit)}`, `${bad} ${plain(limit)}`);
  };
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_LABEL = new RegExp(`^${LABEL}$`);
const DNS_DOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const DNS_WILDCARD = new RegExp(`^\\*\\.${LABEL}(\\.${LABEL})*$`);
const isDomain = (text: string): boolean => text.length <= 253 && DNS_DOMAIN.test(text);
const isWildcard = (text: string): boolean => text.length <= 253 && DNS_WILDCARD.test(text);

const named =
  (operator: string, what: string, fits: (text: string) => boolean): Validator =>
  ({ value }) => {
    const text = textOf(operator, value);
    return verdict(fits(text), `is ${what}`, `is no ${what}: ${text}`);
  };

/** Checks conditions in order; the first decisive one ends it. */
const several =
  (decides: boolean): Validator =>
  ({ value, args, ask }) => {
    if (args.length === 0) throw new ConditionProblem('validator argument required');
    const reasons: string[] = [];
    for (const condition of args) {
      const { holds, text } = ask(value, condition);
      if (holds === decides) return { holds, text };
      reasons.push(text);
    }
    return { holds: !decides, text: reasons.length === 1 ? reasons.join('') : `(${reasons.join(' and ')})` };
  };
const all = several(false);

const field =
  (isOptional: boolean): Validator =>
  ({ value, args, ask }) => {
    if (!isFields(value)) return { holds: false, text: 'is no map' };
    const [name, condition] = args;
    if (typeof name !== 'string' || args.length > 2) throw new ConditionProblem('field name must be string');
    const found = value.get(name);
    if (!found) {
      return verdict(isOptional, `has no optional field "${name}"`, `has no field "${name}"`);
    }
    if (condition === undefined) return { holds: true, text: `map entry "${name}" exists` };
    const { holds, text } = ask(isExpr(found.value) ? null : found.value, condition);
    return { holds, text: `map entry "${name}" ${text}` };
  };

function listOf({ value, args, ask }: Check): Verdict {
  if (!isList(value)) return { holds: false, text: 'is no list' };
  for (const [i, element] of value.entries()) {
    for (const [j, condition] of args.entries()) {
      const { holds, text } = ask(element.value as Value, condition);
      if (!holds) return { holds, text: `entry ${i} condition ${j} ${text}` };
    }
  }
  return { holds: true, text: args.length === 0 ? 'is a list' : 'all entries match all conditions' };
}

function mapOf({ value, args, ask }: Check): Verdict {
  if (!isFields(value)) return { holds: false, text: 'is no map' };
  if (args.length > 2) {
    throw new ConditionProblem(`map validator takes a maximum of two arguments, got ${args.length}`);
  }
  const ofKey = args.length === 2 ? args[0] : undefined;
  const ofEntry = args.at(-1);
  for (const [key, entry] of value) {
    const byKey = ofKey === undefined ? undefined : ask(key, ofKey);
    if (byKey && !byKey.holds) return { holds: false, text: `map key "${key}" ${byKey.text}` };
    const byEntry = ofEntry === undefined ? undefined : ask(entry.value as Value, ofEntry);
    if (byEntry && !byEntry.holds) return { holds: false, text: `map entry "${key}" ${byEntry.text}` };
  }
  return { holds: true, text: args.length === 0 ? 'is a map' : 'all map entries and keys match' };
}

function empty({ value }: Check): Verdict {
  if (typeof value !== 'string' && !isList(value) && !isFields(value)) {
    throw new ConditionProblem(`invalid type for empty: ${typeName(value)}`);
  }
  return verdict(!isTruthy(value), 'is empty', 'is not empty');
}

const shown = (value: Value): string => {
  if (typeof value === 'string') return ` ${quoteString(value)}`;
  return typeof value === 'bigint' ? ` ${value}` : '';
};

function valueSet({ value, args }: Check): Verdict {
  const allowed = only('valueset', args, 'a list argument with possible values');
  if (!isList(allowed)) {
    throw new ConditionProblem('valueset requires a list argument with possible values');
  }
  const isIn = allowed.some((entry) => isEqual(value, entry.value as Value) === true);
  return verdict(isIn, 'matches valueset', `invalid value${shown(value)}`);
}

function equals({ value, args }: Check): Verdict {
  const wanted = only('value', args, 'a value argument');
  const text = typeof value === 'string' ? shown(value) : '';
  return verdict(isEqual(wanted, value) === true, `valid value${text}`, `invalid value${text}`);
}

function matches({ value, args }: Check): Verdict {
  const pattern = only('match', args, 'a regexp argument');
  if (typeof pattern !== 'string') throw new ConditionProblem('match requires a regexp argument');
  if (typeof value !== 'string') throw new ConditionProblem('no string to match regexp');
  let holds: boolean;
  try {
    holds = testRegexp(pattern, value);
  } catch (error) {
    throw new ConditionProblem(`regexp ${pattern}: ${(error as Error).message}`);
  }
  return verdict(holds, `valid value${shown(value)}`, `invalid value${shown(value)}`);
}

function typeIs({ value, args }: Check): Verdict {
  const found = typeName(value);
  const wanted = args.map((arg) => textOf('type', arg));
  const reasons = wanted.map((type) => `is not of type ${type}`).join(' and ');
  return verdict(
    wanted.includes(found),
    `is of type ${found}`,
    wanted.length === 1 ? reasons : `(${reasons})`,
  );
}

function version({ value, args }: Check): Verdict {
  const plainOf = (it: Value): SpiffValue => (typeof it === 'string' ? it : null);
  try {
    return versionVerdict(plainOf(value), args.map(plainOf));
  } catch (error) {
    if (error instanceof Unresolvable) throw new ConditionProblem(error.message);
    throw error;
  }
}

/** @param read throws an error if the text is not what the condition wants */
function parsed(operator: string, what: string, read: (text: string) => unknown): Validator {
  return ({ value }) => {
    const text = textOf(operator, value);
    try {
      read(text);
      return { holds: true, text: `is ${what}` };
    } catch (error) {
      return { holds: false, text: `is no ${what}: ${(error as Error).message}` };
    }
  };
}

function authority(check: Check): Verdict {
  const found = parsed('ca', 'certificate', parseCertificate)(check);
  if (!found.holds) return found;
  return verdict(parseCertificate(textOf('ca', check.value)).ca, 'is ca', 'is no ca certificate: %!s(<nil>)');
}

const greater = ordered(['gt', 'greater than', 'less or equal to'], (a, b) => a > b);
const less = ordered(['lt', 'less or equal to', 'greater than'], (a, b) => a < b);
const atLeast = ordered(['ge', 'greater or equal to', 'less than'], (a, b) => a >= b);
const atMost = ordered(['le', 'less than', 'greater or equal to'], (a, b) => a <= b);

export const validators: Readonly<Record<string, Validator>> = table({
  list: listOf,
  map: mapOf,
  mapfield: field(false),
  optionalfield: field(true),
  and: all,
  not: all,
  '': all,
  or: several(true),
  empty,
  valueset: valueSet,
  value: equals,
  '=': equals,
  gt: greater,
  '>': greater,
  lt: less,
  '<': less,
  ge: atLeast,
  '>=': atLeast,
  le: atMost,
  '<=': atMost,
  match: matches,
  '~=': matches,
  type: typeIs,
  dnsname: named('dnsname', 'dns name', (text) => isDomain(text) || isWildcard(text)),
  dnslabel: named('dnslabel', 'dns label', (text) => text.length <= 63 && DNS_LABEL.test(text)),
  dnsdomain: named('dnsdomain', 'dns domain', isDomain),
  wildcarddnsdomain: named('wildcarddnsdomain', 'wildcard dns domain', isWildcard),
  ip: named('ip', 'ip address', (text) => parseIp(text) !== undefined),
  cidr: named('cidr', 'CIDR', (text) => parseCidr(text) !== undefined),
  semver: version,
  privatekey: parsed('privatekey', 'private key', parsePrivateKey),
  publickey: parsed('publickey', 'public key', parsePublicKey),
  certificate: parsed('certificate', 'certificate', parseCertificate),
  ca: authority,
});
