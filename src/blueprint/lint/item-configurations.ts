/** Rules about the types of deploy items and their configurations, with what the deployers say about them. */
import { closest } from '../../lib/closest.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { ruleGroup, type Report } from './finding.ts';
import { itemsOf, textOf, type Item } from './items.ts';
import { hasOpenPart, isOpen, shown } from './template-result.ts';
import type { FieldProblem, KnownDeployers } from './subject.ts';
import type { Path } from './yaml-text.ts';

const rules = {
  'item-type-unknown': {
    level: 'warning',
    about: 'a type of deploy items that is almost the type of a deployer of Espalier',
  },
  'item-config': {
    level: 'error',
    about: 'a deploy item whose `config` has no `apiVersion` or `kind`: the API server refuses it',
  },
  'item-config-invalid': { level: 'error', about: 'a `config` that the deployer of the item refuses' },
  'item-config-field': {
    level: 'warning',
    about: 'a field of a `config` that the deployer of the item does not read',
  },
} as const;
type RuleName = keyof typeof rules;
type Say = Report<RuleName>;

export const itemConfigurationRules = ruleGroup<RuleName>(rules, (subject, report) => {
  for (const item of itemsOf(subject).items) {
    inspectHead(item, report);
    if (subject.deployers) {
      inspectType(item, subject.deployers, report);
      inspectConfig(item, subject.deployers, report);
    }
  }
});

/** The CRD requires both fields of every configuration. A configuration that an expression creates is not known here. */
function inspectHead({ name, value, document, isWhole }: Item, say: Say): void {
  const config = ownField(value, 'config') ?? {};
  if (!isWhole || !isObject(config) || Object.keys(config).some(isOpen)) return;
  const missing = ['apiVersion', 'kind'].filter((field) => textOf(config, field) === '');
  if (missing.length === 0) return;
  const message = `the config of "${shown(name)}" has no ${missing.join(' and no ')}; the API server refuses such an item`;
  say('item-config', document.at(['config'], 'key'), message);
}

/** Other deployers have types of their own, so only names that are similar to a known type are reported. */
function inspectType({ value, document }: Item, { types }: KnownDeployers, say: Say): void {
  const type = textOf(value, 'type');
  if (type === '' || isOpen(type) || types.includes(type)) return;
  const meant = types.find((one) => one.endsWith(`/${type}`)) ?? similarType(type, types);
  if (meant === undefined && !types.some((one) => groupOf(one) === groupOf(type))) return;
  const hint = meant === undefined ? `known are ${types.join(', ')}` : `did you mean "${meant}"?`;
  say('item-type-unknown', document.at(['type']), `no deployer of Espalier has the type "${type}"; ${hint}`);
}

const groupOf = (type: string): string => type.split('/')[0] ?? '';
const nameOf = (type: string): string => type.split('/').slice(1).join('/');

/** A known type with the same group and a similar name, or the same name and a similar group. */
const similarType = (type: string, types: readonly string[]): string | undefined =>
  types.find((one) =>
    groupOf(one) === groupOf(type)
      ? closest(nameOf(type), types.map(nameOf)) === nameOf(one)
      : nameOf(one) === nameOf(type) && isSimilarGroup(groupOf(type), groupOf(one)),
  );

/** A group with more or fewer parts is another one, such as a subdomain. */
const isSimilarGroup = (group: string, known: string): boolean =>
  group.split('.').length === known.split('.').length && closest(group, [known]) !== undefined;

function inspectConfig(item: Item, deployers: KnownDeployers, say: Say): void {
  const { value, document, name } = item;
  const config = ownField(value, 'config');
  if (!isObject(config)) return;
  const head = ['apiVersion', 'kind'].map((field) => textOf(config, field));
  if (head.some((text) => text === '' || isOpen(text))) return;
  const type = textOf(value, 'type');
  for (const { path, message } of deployers.unknownFields(type, config)) {
    if (!path.some((step) => isOpen(String(step))))
      say('item-config-field', document.at(['config', ...path], 'key'), message);
  }
  for (const { path, message } of refusals(item, config, deployers)) {
    const at = document.at(['config', ...path]);
    say('item-config-invalid', at, `the config of "${shown(name)}" is not valid: ${message}`);
  }
}

/** Each refusal hides those behind it, so a value that has been judged is replaced by one that the deployer accepts. */
const MAX_REFUSALS = 20;

function refusals(
  { value, isWhole }: Item,
  config: Readonly<Record<string, unknown>>,
  deployers: KnownDeployers,
): readonly FieldProblem[] {
  const found: FieldProblem[] = [];
  const judged: Path[] = [];
  const refusalsOf = (one: unknown): readonly FieldProblem[] =>
    deployers.refusals(textOf(value, 'type'), one);
  let left: unknown = config;
  for (let round = 0; round < MAX_REFUSALS; round++) {
    const [first, ...others] = refusalsOf(left);
    if (!first) break;
    for (const one of [first, ...others]) {
      const isNew = !judged.some((path) => isOnOnePath(path, one.path));
      if (isNew && isCertain(one.path, left, isWhole)) found.push(one);
      judged.push(one.path);
    }
    const accepted = deployers.standIns
      .map((standIn) => replaced(left, first.path, standIn))
      .find((one) => !refusalsOf(one).some(({ path }) => isOnOnePath(path, first.path)));
    if (accepted === undefined) break;
    left = accepted;
  }
  return found;
}

const isOnOnePath = (a: Path, b: Path): boolean => {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.every((step, i) => step === long[i]);
};

/**
 * Whether a refusal does not depend on an expression. In a result that is not whole, fields may be missing, or come from
 * two branches of a condition, so only scalars are certain.
 */
function isCertain(path: Path, config: unknown, isWhole: boolean): boolean {
  const value = at(config, path);
  if (hasOpenPart(value) || path.some((_, i) => isOpenScalar(at(config, path.slice(0, i))))) return false;
  const isMissing = value === undefined || value === null || value === '';
  if (!isWhole) return !isMissing && typeof value !== 'object';
  return !isMissing || !hasOpenKey(nearest(config, path));
}

const isOpenScalar = (value: unknown): boolean => typeof value === 'string' && isOpen(value);

const hasOpenKey = (value: unknown): boolean => isObject(value) && Object.keys(value).some(isOpen);

const at = (value: unknown, path: Path): unknown => path.reduce<unknown>(child, value);

const child = (value: unknown, step: string | number): unknown =>
  Array.isArray(value) ? (value as unknown[])[Number(step)] : ownField(value, String(step));

/** The innermost existing map or list on a path. */
function nearest(value: unknown, path: Path): unknown {
  const values = path.map((_, i) => at(value, path.slice(0, i)));
  return values.findLast((one) => typeof one === 'object' && one !== null) ?? value;
}

/** A copy with another value at a path. */
function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  const inner = replaced(child(value, step), rest, by);
  if (Array.isArray(value)) return (value as unknown[]).map((one, i) => (i === Number(step) ? inner : one));
  return isObject(value) ? { ...value, [step]: inner } : value;
}
