/** Which deploy items an instance of a deployer handles: by type, and by selectors on the item's target. Pure. */
import { table } from '../../src/lib/objects.ts';
import { annotations as keys, NO_TARGET_NAME } from '../../src/api/labels.ts';
import type { View } from '../../src/runtime/types.ts';
import type { DeployItem, Target } from './kinds.ts';

/** One requirement on a label or an annotation, as in `matchExpressions`: `In`, `NotIn`, `Exists`, `DoesNotExist`. */
export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** All given parts must match; an empty selector matches every target. */
export interface TargetSelector {
  readonly targets?: readonly { readonly name: string; readonly namespace?: string }[];
  readonly annotations?: readonly Requirement[];
  readonly labels?: readonly Requirement[];
}

/** A selector is invalid. */
export class InvalidSelector extends Error {
  override readonly name = 'InvalidSelector';
}

/** Whether the item has this type, by its annotation, or by its spec if there is no annotation. */
export const isOfType = (item: View<DeployItem>, type: string): boolean =>
  (item.metadata.annotations?.[keys.deployerType] ?? item.spec.type) === type;

/** Name of the item's target; undefined if it has none. */
export function targetNameOf(item: View<DeployItem>): string | undefined {
  const noted = item.metadata.annotations?.[keys.deployerTargetName];
  const name = item.spec.target?.name ?? (item.metadata.annotations?.[keys.deployerType] ? noted : undefined);
  return name === undefined || name === '' || name === NO_TARGET_NAME ? undefined : name;
}

/** Whether a selector matches the target; without selectors, every target matches. */
export const isSelected = (selectors: readonly TargetSelector[] | undefined, target: View<Target>): boolean =>
  !selectors || selectors.length === 0 || selectors.some((selector) => matches(selector, target));

function matches(selector: TargetSelector, target: View<Target>): boolean {
  const { name, namespace, annotations = {}, labels = {} } = target.metadata;
  const isListed =
    !selector.targets ||
    selector.targets.length === 0 ||
    selector.targets.some((t) => t.name === name && (!t.namespace || t.namespace === namespace));
  return (
    isListed &&
    (selector.annotations ?? []).every((r) => fulfils(r, annotations)) &&
    (selector.labels ?? []).every((r) => fulfils(r, labels))
  );
}

function fulfils(
  { key, operator, values = [] }: Requirement,
  map: Readonly<Record<string, string>>,
): boolean {
  const value = map[key];
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
      return isInteger(value) && Number(value) > Number(values[0]);
    case 'lt':
      return isInteger(value) && Number(value) < Number(values[0]);
    default:
      throw new InvalidSelector(`"${operator}" is not an operator of a target selector`);
  }
}

const isInteger = (text: string | undefined): text is string => text !== undefined && /^-?\d+$/.test(text);

const QUALIFIED = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const COUNTS: Readonly<Record<string, readonly [number, number]>> = table({
  '=': [1, 1],
  '==': [1, 1],
  '!=': [1, 1],
  in: [1, Infinity],
  notin: [1, Infinity],
  exists: [0, 0],
  '!': [0, 0],
  gt: [1, 1],
  lt: [1, 1],
});

/**
 * Validates the selectors of a configuration when it is read. Annotations have the rules of labels, as upstream.
 * @throws InvalidSelector that names the requirement
 */
export function checkSelectors(selectors: readonly TargetSelector[]): void {
  for (const selector of selectors) {
    for (const requirement of [...(selector.annotations ?? []), ...(selector.labels ?? [])])
      checkRequirement(requirement);
  }
}

function checkRequirement({ key, operator, values = [] }: Requirement): void {
  const counts = COUNTS[operator];
  const here = `target selector requirement on "${key}"`;
  if (!counts) throw new InvalidSelector(`${here}: "${operator}" is not an operator`);
  if (!QUALIFIED.test(key)) throw new InvalidSelector(`${here}: the key is not a valid label key`);
  if (values.length < counts[0] || values.length > counts[1]) {
    throw new InvalidSelector(
      `${here}: operator "${operator}" does not accept ${String(values.length)} values`,
    );
  }
  const bad = values.find((value) => !VALUE.test(value));
  if (bad !== undefined) throw new InvalidSelector(`${here}: "${bad}" is not a valid label value`);
  if ((operator === 'gt' || operator === 'lt') && !isInteger(values[0])) {
    throw new InvalidSelector(`${here}: operator "${operator}" needs an integer`);
  }
}
