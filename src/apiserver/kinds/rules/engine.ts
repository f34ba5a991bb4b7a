/**
 * Checks objects of built-in kinds with rules that belong to Go types: a rule for `core.v1.HTTPGetAction` holds in
 * probes and in hooks of containers, in pods and in templates. The schemas say where an object contains a type.
 */
import { append } from '../../../lib/lists.ts';
import type { JsonSchema } from '../../schema/types.ts';
import { isObject } from '../../types.ts';
import type { FieldError, JsonObject, KubeObject } from '../../types.ts';
import type { Kind } from '../kinds.ts';
import { kindsData, REF } from '../schemas.ts';
import { ruleTables } from './tables.ts';
import type { StructRule, TypeRules } from './vocabulary.ts';

const API = 'io.k8s.api.';
const META = 'io.k8s.apimachinery.pkg.apis.';

interface Child {
  readonly member: string;
  /** The name of the member in paths, which upstream sometimes writes differently. */
  readonly shown: string;
  readonly form: 'struct' | 'list' | 'map';
  readonly type: Type;
}

/** The rules of a type, and its members with rules below them; the others are not visited. */
interface Type {
  readonly checksForbidden: boolean;
  readonly members: readonly (readonly [member: string, shown: string, rules: readonly StructMemberRule[]])[];
  readonly together: readonly StructRule[];
  children: readonly Child[];
  matters: boolean;
}

type StructMemberRule = NonNullable<TypeRules['members']>[string][number];

const types = new Map<string, Type>();

const ruleName = (schemaName: string): string =>
  schemaName.startsWith(API) ? schemaName.slice(API.length) : schemaName.slice(META.length);

/** The rules of a type and of all types below it; the types of schemas never contain themselves, except for JSON schemas. */
function typeOf(schemaName: string): Type {
  const known = types.get(schemaName);
  if (known) return known;
  const rules = ruleTables.get(ruleName(schemaName));
  const shown = (member: string): string => rules?.shown?.[member] ?? member;
  const type: Type = {
    members: Object.entries(rules?.members ?? {}).map(([member, each]) => [member, shown(member), each]),
    together: rules?.together ?? [],
    checksForbidden: rules?.checksForbidden ?? false,
    children: [],
    matters: rules !== undefined,
  };
  types.set(schemaName, type);
  const properties = Object.entries(kindsData().schemas[schemaName]?.properties ?? {});
  type.children = properties.flatMap(([member, schema]) => {
    const found = rules?.unchecked?.includes(member) ? undefined : referenceOf(schema);
    if (!found) return [];
    const child = typeOf(found.name);
    return child.matters ? [{ member, shown: shown(member), form: found.form, type: child }] : [];
  });
  type.matters ||= type.children.length > 0;
  return type;
}

function referenceOf(
  schema: JsonSchema,
): { readonly name: string; readonly form: Child['form'] } | undefined {
  const name = (of: JsonSchema | undefined): string | undefined =>
    (of?.$ref ?? of?.allOf?.[0]?.$ref)?.slice(REF.length);
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const forms = [
    ['struct', name(schema)],
    ['list', name(schema.items)],
    ['map', name(values)],
  ] as const;
  for (const [form, found] of forms) if (found !== undefined) return { name: found, form };
  return undefined;
}

const join = (path: string, member: string): string => (path === '' ? member : `${path}.${member}`);

function check(type: Type, struct: JsonObject, path: string, errors: FieldError[]): void {
  const before = errors.length;
  for (const rule of type.together) append(errors, rule(struct, path));
  // Forbidden members are not checked in detail.
  const refused = new Set(
    (type.checksForbidden ? [] : errors.slice(before))
      .filter(({ type: reason }) => reason === 'FieldValueForbidden')
      .map(({ field }) => field.toLowerCase()),
  );
  for (const [member, shown, rules] of type.members)
    for (const rule of rules) append(errors, rule(struct[member], join(path, shown), struct));
  for (const child of type.children) {
    const at = join(path, child.member);
    if (!refused.has(at.toLowerCase()))
      checkChild(child, struct[child.member], join(path, child.shown), errors);
  }
}

function checkChild({ form, type }: Child, value: unknown, at: string, errors: FieldError[]): void {
  if (form === 'list' && Array.isArray(value))
    value.forEach((item: unknown, i) => {
      if (isObject(item)) check(type, item, `${at}[${String(i)}]`, errors);
    });
  else if (form === 'struct' && isObject(value)) check(type, value, at, errors);
  else if (form === 'map' && isObject(value))
    for (const [key, item] of Object.entries(value))
      if (isObject(item)) check(type, item, `${at}[${key}]`, errors);
}

/** Whether a part of an object is valid. @param name of its type, as `core.v1.Volume` */
export function isValid(name: string, struct: JsonObject): boolean {
  const errors: FieldError[] = [];
  check(typeOf(API + name), struct, 'x', errors);
  return errors.length === 0;
}

/**
 * The errors of an object of a built-in kind, by the rules of its types.
 * @param live the old object; its errors do not prevent a change
 */
export function ruleErrors(kind: Kind, object: KubeObject, live?: KubeObject): FieldError[] {
  const name = kindsData().nameOf(kind.group, kind.version, kind.kind);
  if (!kind.builtIn || name === undefined) return [];
  const type = typeOf(name);
  if (!type.matters) return [];
  const errors: FieldError[] = [];
  check(type, object, '', errors);
  if (errors.length === 0 || !live) return errors;
  const old: FieldError[] = [];
  check(type, live, '', old);
  const known = new Set(old.map(({ field, message }) => `${field} ${message}`));
  return errors.filter(({ field, message }) => !known.has(`${field} ${message}`));
}
