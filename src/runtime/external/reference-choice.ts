/** What the spec of an object says about a reference: which objects it refers to, and whether it has to be resolved. Pure. */
import { exactJson } from '../../lib/exact-json.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { joinKey } from '../keys.ts';
import type { Key, Kind, Obj, View } from '../types.ts';

/** The references or the selector that apply to a field. */
export interface Choice {
  readonly field: string;
  /** Where the references are, and where a selector stores its choice. */
  readonly refField: string;
  readonly isList: boolean;
  readonly isSelector: boolean;
  /** The selector, or each reference, with its path for messages. */
  readonly references: readonly { readonly by: object; readonly where: string }[];
  /** Whether the field has no value, or is to be resolved always. */
  readonly isOpen: boolean;
}

/** A selector chooses once, and its choice is the reference, unless it is to choose each time. */
export function readChoice(
  object: View<Obj>,
  { field, list: isList = false }: { readonly field: string; readonly list?: boolean },
): Choice | undefined {
  const spec = ownField(object, 'spec');
  const refField = `${field}${isList ? 'Refs' : 'Ref'}`;
  const refs = referencesAt(spec, refField, isList);
  const selector = ownField(spec, `${field}Selector`);
  const isSelector = isObject(selector) && (refs.length === 0 || isAlways(selector));
  const references = isSelector ? [{ by: selector, where: `spec.${field}Selector` }] : refs;
  if (references.length === 0) return undefined;
  const isOpen = !hasValue(ownField(spec, field), isList) || references.some(({ by }) => isAlways(by));
  return { field, refField, isList, isSelector, references, isOpen };
}

function referencesAt(spec: unknown, refField: string, isList: boolean): Choice['references'] {
  const value = ownField(spec, refField);
  if (!isList) return isObject(value) ? [{ by: value, where: `spec.${refField}` }] : [];
  if (!Array.isArray(value)) return [];
  return value.map((by: unknown, i) => ({
    by: isObject(by) ? by : {},
    where: `spec.${refField}[${String(i)}]`,
  }));
}

const hasValue = (value: unknown, isList: boolean): boolean =>
  isList ? Array.isArray(value) && value.length > 0 : value !== undefined;

/** The names in references that a selector has stored. */
export const namesOf = (refs: unknown, isList: boolean): readonly unknown[] =>
  (isList ? (Array.isArray(refs) ? refs : []) : [refs]).map((ref) => ownField(ref, 'name'));

/** The key of the object that a reference names; undefined if it names none. */
export function keyOfReference(object: View<Obj>, ref: object, kind: Kind): Key | undefined {
  const name = ownField(ref, 'name');
  return typeof name === 'string'
    ? joinKey(kind.namespaced ? object.metadata.namespace : undefined, name)
    : undefined;
}

/** Where a selector of an object chooses; empty: among all objects of the kind. */
export const namespaceOfChoice = ({ metadata }: View<Obj>, kind: Kind): string =>
  kind.namespaced ? (metadata.namespace ?? '') : '';

/** Whether a selector of an object matches a candidate, wherever it is. */
export function isMatch(object: View<Obj>, selector: object, candidate: View<Obj>): boolean {
  const labels = Object.entries(ownField(selector, 'matchLabels') ?? {});
  if (!labels.every(([label, value]) => candidate.metadata.labels?.[label] === value)) return false;
  if (ownField(selector, 'matchControllerRef') !== true) return true;
  const controller = controllerOf(object);
  return controller !== undefined && controllerOf(candidate) === controller;
}

export const controllerOf = ({ metadata }: View<Obj>): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;

// ---------------------------------------------------------------- policies

/** The allowed values of a policy; the first one is the default. */
const POLICIES = { resolution: ['Required', 'Optional'], resolve: ['IfNotPresent', 'Always'] } as const;

const isAlways = (reference: object): boolean => policyOf(reference, 'resolve') === 'Always';

/** @returns any value, because it is read from the object */
export const policyOf = (reference: object, name: keyof typeof POLICIES): unknown =>
  ownField(ownField(reference, 'policy'), name) ?? POLICIES[name][0];

export function policyProblem(reference: object, where: string): string | undefined {
  for (const name of ['resolution', 'resolve'] as const) {
    const value = policyOf(reference, name);
    if (!(POLICIES[name] as readonly unknown[]).includes(value))
      return `${where}.policy.${name} is ${exactJson(value)}; it can be "${POLICIES[name].join('" or "')}"`;
  }
  return undefined;
}
