/** The words in which rules of built-in types are written. */
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from '../../../lib/names.ts';
import { formatCheck } from '../../schema/formats.ts';
import * as field from '../../schema/field-errors.ts';
import { isObject } from '../../types.ts';
import type { FieldError, JsonObject } from '../../types.ts';

/** What the value of a member must be; `path` is that of the member, `owner` the struct that has it. */
export type MemberRule = (value: unknown, path: string, owner: JsonObject) => readonly FieldError[];
/** What the members of a struct must be together; `path` is that of the struct. */
export type StructRule = (struct: JsonObject, path: string) => readonly FieldError[];

export interface TypeRules {
  readonly members?: Readonly<Record<string, readonly MemberRule[]>>;
  readonly together?: readonly StructRule[];
  /** Names of members in paths of errors, where these are not the names of the fields. */
  readonly shown?: Readonly<Record<string, string>>;
  /** Whether members that `together` forbids are checked nevertheless. */
  readonly checksForbidden?: boolean;
  /** Members whose content is not checked, although their types have rules. */
  readonly unchecked?: readonly string[];
}

/** By the name of the type in the schemas, without `io.k8s.api.`. */
export type RuleTable = Readonly<Record<string, TypeRules>>;

export const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** For Go, these are the same as an absent value, unless the field is a pointer. */
export const isEmpty = (value: unknown): boolean =>
  isAbsent(value) || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

export const structOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const structsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Applies a rule to values that are there. */
const given =
  (rule: MemberRule): MemberRule =>
  (value, path, owner) =>
    isAbsent(value) ? [] : rule(value, path, owner);

/** Applies a rule to an absent string as to an empty one. */
const always =
  (rule: MemberRule): MemberRule =>
  (value, path, owner) =>
    rule(value ?? '', path, owner);

export const required =
  (detail = ''): MemberRule =>
  (value, path) =>
    isEmpty(value) ? [field.required(path, detail)] : [];

const among =
  (values: readonly string[]): MemberRule =>
  (value, path) =>
    values.includes(value as string) ? [] : [field.notSupported(path, value, values)];

/** One of these values, if it is there. */
export const oneOf = (...values: readonly string[]): MemberRule => given(among(values));
/** One of these values; an absent one is reported as an empty string. */
export const mustBeOneOf = (...values: readonly string[]): MemberRule => always(among(values));
/** One of these values; an absent one is `required`. */
export const requiredOneOf =
  (values: readonly string[], detail = ''): MemberRule =>
  (value, path, owner) =>
    isEmpty(value) ? [field.required(path, detail)] : among(values)(value, path, owner);

const number =
  (isRight: (value: number) => boolean, why: string): MemberRule =>
  (value, path) =>
    typeof value === 'number' && !isRight(value) ? [field.invalid(path, value, why)] : [];

const orZero =
  (rule: MemberRule): MemberRule =>
  (value, path, owner) =>
    rule(value ?? 0, path, owner);

export const atLeast = (least: number, why: string): MemberRule => number((value) => value >= least, why);
/** An absent number is 0. */
export const mustBeAtLeast = (least: number, why: string): MemberRule => orZero(atLeast(least, why));
export const between = (least: number, most: number, why?: string): MemberRule =>
  number(
    (value) => value >= least && value <= most,
    why ?? `must be between ${String(least)} and ${String(most)}, inclusive`,
  );
/** An absent number is 0. */
export const mustBeBetween = (least: number, most: number, why?: string): MemberRule =>
  orZero(between(least, most, why));

export const notNegative = atLeast(0, 'must be greater than or equal to 0');
export const port = between(1, 65535);
export const mustBePort = mustBeBetween(1, 65535);

/** Applies a rule to strings that are not empty: `required` reports the others. */
export const unlessEmpty =
  (rule: MemberRule): MemberRule =>
  (value, path, owner) =>
    isEmpty(value) ? [] : rule(value, path, owner);

/** Reports what `problems` finds in a string. */
const string =
  (problems: (text: string) => readonly string[]): MemberRule =>
  (value, path) =>
    typeof value === 'string' ? problems(value).map((why) => field.invalid(path, value, why)) : [];

const ifNot =
  (isRight: (text: string) => boolean, why: string) =>
  (text: string): readonly string[] =>
    isRight(text) ? [] : [why];

export const matching = (pattern: RegExp, why: string): MemberRule =>
  string(ifNot((text) => pattern.test(text), why));

export const subdomain = string(isDns1123Subdomain);
export const mustBeSubdomain = always(subdomain);
export const label = string(isDns1123Label);
export const mustBeLabel = always(label);
export const qualifiedName = string(isQualifiedName);
export const mustBeQualifiedName = always(qualifiedName);

const is = (format: string, text: string): boolean => formatCheck(format)?.(text) ?? true;
const isIp = (text: string): boolean => is('ipv4', text) || is('ipv6', text);
export const ip = string(ifNot(isIp, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'));
export const mustBeIp = always(ip);
export const cidr = string(
  ifNot((text) => is('cidr', text), 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'),
);

/** Applies a rule to each item of a list; `at` builds the path of an item. */
export const each =
  (rule: MemberRule, at = (path: string, i: number): string => `${path}[${String(i)}]`): MemberRule =>
  (value, path, owner) =>
    Array.isArray(value) ? value.flatMap((item, i) => rule(item, at(path, i), owner)) : [];

/** The path of a list instead of that of its item: `a.b[3]` becomes `a.b`. */
export const withoutIndex = (path: string): string => path.replace(/\[\d+\]$/, '');

/** Errors of labels, of a pod template for example. */
export const labels: MemberRule = (value, path) =>
  Object.entries(structOf(value)).flatMap(([key, text]) => [
    ...isQualifiedName(key).map((why) => field.invalid(path, key, why)),
    ...(typeof text === 'string' ? isLabelValue(text).map((why) => field.invalid(path, text, why)) : []),
  ]);

const PERCENT = /^[0-9]+%$/;
const PERCENT_RULE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number that is not negative, or a percentage. */
export const countOrPercent: MemberRule = (value, path, owner) =>
  typeof value === 'string' && !PERCENT.test(value)
    ? [field.invalid(path, value, PERCENT_RULE)]
    : notNegative(value, path, owner);

/** What is wrong with the name of a port. */
export function portNameProblems(name: string): string[] {
  const checks: readonly (readonly [isWrong: boolean, why: string])[] = [
    [name.length > 15, 'must be no more than 15 characters'],
    [!/^[-a-z0-9]+$/.test(name), 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'],
    [!/[a-z]/.test(name), 'must contain at least one letter (a-z)'],
    [name.includes('--'), 'must not contain consecutive hyphens'],
    [/^-|-$/.test(name), 'must not begin or end with a hyphen'],
  ];
  return checks.flatMap(([isWrong, why]) => (isWrong ? [why] : []));
}

export const portName = string(portNameProblems);
/** A number or a name; an absent one is 0. */
export const mustBePortOrName: MemberRule = (value, path, owner) =>
  typeof value === 'string' ? portName(value, path, owner) : mustBePort(value, path, owner);

/** At most one of these members; a later one than the first is forbidden. Without `missing`, none is fine, too. */
export const exactlyOne =
  (members: readonly string[], tooMany: string, missing?: string): StructRule =>
  (struct, path) => {
    const found = members.filter((member) => !isAbsent(struct[member]));
    if (found.length === 0) return missing === undefined ? [] : [field.required(path, missing)];
    return found.slice(1).map((member) => field.forbidden(`${path}.${member}`, tooMany));
  };

/** `members` are required, as `required()` says it. */
export const requires = (...members: readonly string[]): TypeRules => ({
  members: Object.fromEntries(members.map((member) => [member, [required()]])),
});

/** How many of these members a struct has. */
export const countOf = (struct: unknown, members: readonly string[]): number =>
  members.filter((member) => !isAbsent(structOf(struct)[member])).length;
