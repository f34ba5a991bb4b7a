/** Rules about deploy items: their names, fields, targets and dependencies. */
import { deployItemSpecification } from '../../api/blueprint.ts';
import { isDuration } from '../../lib/duration.ts';
import { shortestCycle } from '../../lib/graph.ts';
import { isLabelValue, isQualifiedName } from '../../lib/names.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { declaredImports } from '../template-checks.ts';
import { ruleGroup, type Report } from './finding.ts';
import { itemsOf, textOf, type Item } from './items.ts';
import { shapeProblems } from './shape.ts';
import type { Subject } from './subject.ts';
import { isOpen, shown } from './template-result.ts';
import { hintFor } from './words.ts';
import type { Path, YamlText } from './yaml-text.ts';

const rules = {
  'item-name': { level: 'error', about: 'a deploy item without a name, or with one that another item has' },
  'item-type': { level: 'error', about: 'a deploy item without a type: no deployer would pick it up' },
  'item-invalid': {
    level: 'error',
    about:
      'a field of a deploy item with an invalid value, such as a label, or a timeout that is not a duration',
  },
  'item-field': { level: 'warning', about: 'an unknown field of a deploy item' },
  'item-target': {
    level: 'error',
    about: 'a target of a deploy item that is not an import, or is a list or map without an index or key',
  },
  'item-dependency': { level: 'error', about: 'a deploy item that depends on one that does not exist' },
  'item-cycle': { level: 'error', about: 'deploy items with cyclic dependencies' },
} as const;
type RuleName = keyof typeof rules;
type Say = Report<RuleName>;

export const deployItemRules = ruleGroup<RuleName>(rules, (subject, report) => {
  const { items, isComplete } = itemsOf(subject);
  for (const item of items) inspectItem(subject, item, report);
  inspectNames(
    items.filter(({ isWhole }) => isWhole),
    report,
  );
  // Other items may depend on items that are not known.
  if (isComplete) inspectDependencies(items, report);
});

function inspectItem(subject: Subject, item: Item, say: Say): void {
  const { name, value, document, isWhole } = item;
  if (isWhole && textOf(value, 'type') === '')
    say('item-type', document.at([]), `the deploy item "${shown(name)}" has no type`);
  for (const { kind, path, message } of shapeProblems(deployItemSpecification, value)) {
    if (kind === 'unknown') {
      if (!isOpen(String(path.at(-1)))) say('item-field', document.at(path, 'key'), message);
    } else if (kind === 'type' && !isOpenAt(value, path)) say('item-invalid', document.at(path), message);
  }
  inspectValues(value, document, say);
  inspectTarget(subject, item, say);
}

function inspectTarget({ blueprint: { info } }: Subject, item: Item, say: Say): void {
  const { name, value, document, isWhole } = item;
  const target = ownField(value, 'target');
  const wanted = textOf(target, 'import');
  if (!isObject(target) || isOpen(wanted)) return;
  if (wanted === '') {
    if (!isWhole || textOf(target, 'name') !== '') return;
    const message = `the target of "${shown(name)}" names no import; omit "target" if there is none`;
    say('item-target', document.at(['target'], 'key'), message);
    return;
  }
  const declared = declaredImports(info);
  const targets = [...declared].flatMap(([one, type]) => (type === 'data' ? [] : [one]));
  const type = declared.get(wanted);
  const at = document.at(['target', 'import']);
  if (type === undefined || type === 'data') {
    const why =
      type === 'data' ? 'that import is data' : hintFor(wanted, targets, 'declare it under "imports"');
    say('item-target', at, `there is no target import "${wanted}"; ${why}`);
    return;
  }
  if (!isWhole) return;
  const [needs, form] =
    type === 'targetList' ? ['index', 'list'] : type === 'targetMap' ? ['key', 'map'] : [];
  if (needs !== undefined && ownField(target, needs) === undefined) {
    say('item-target', at, `"${wanted}" is a target ${form ?? ''}; select an element with "${needs}"`);
  }
  const extra = ['index', 'key'].find((key) => key !== needs && ownField(target, key) !== undefined);
  if (extra !== undefined) {
    const path: Path = ['target', extra];
    say(
      'item-target',
      document.at(path, 'key'),
      `"${wanted}" is of type ${type}, so "${extra}" has no effect`,
    );
  }
}

function inspectValues(value: Readonly<Record<string, unknown>>, document: YamlText, say: Say): void {
  const timeout = textOf(value, 'timeout');
  if (timeout !== '' && !isOpen(timeout) && !isDuration(timeout)) {
    const message = `"${timeout}" is not a duration; use a value like 10m`;
    say('item-invalid', document.at(['timeout']), message);
  }
  const labels = ownField(value, 'labels');
  for (const [key, label] of Object.entries(isObject(labels) ? labels : {})) {
    const text = typeof label === 'string' ? label : '';
    const problems = [
      ...(isOpen(key) ? [] : isQualifiedName(key)),
      ...(isOpen(text) ? [] : isLabelValue(text)),
    ];
    for (const why of problems)
      say('item-invalid', document.at(['labels', key], 'key'), `invalid label: ${why}`);
  }
}

const isOpenAt = (value: unknown, path: Path): boolean => {
  const found = path.reduce<unknown>(
    (at, step) => (Array.isArray(at) ? (at as unknown[])[Number(step)] : ownField(at, String(step))),
    value,
  );
  return typeof found === 'string' && isOpen(found);
};

function inspectNames(items: readonly Item[], say: Say): void {
  const seen = new Set<string>();
  for (const { name, document } of items) {
    if (isOpen(name)) continue;
    if (name === '') say('item-name', document.at([]), 'the deploy item has no name');
    else if (seen.has(name))
      say('item-name', document.at(['name']), `there is another deploy item with the name "${name}"`);
    seen.add(name);
  }
}

function inspectDependencies(items: readonly Item[], say: Say): void {
  const names = items.map(({ name }) => name);
  if (names.some(isOpen)) return;
  const needs = new Map(items.map((item) => [item.name, dependenciesOf(item)]));
  for (const { name, document } of items) {
    for (const [i, needed] of (needs.get(name) ?? []).entries()) {
      if (isOpen(needed) || needs.has(needed)) continue;
      const why = hintFor(needed, names, `there are ${names.join(', ')}`);
      say(
        'item-dependency',
        document.at(['dependsOn', i]),
        `there is no deploy item "${needed}" to depend on; ${why}`,
      );
    }
  }
  const cycle = shortestCycle(needs);
  const first = cycle && items.find(({ name }) => name === cycle[0]);
  if (!cycle || !first) return;
  const message = `these wait for each other: ${cycle.join(' -> ')}`;
  say('item-cycle', first.document.at(['dependsOn'], 'key'), message);
}

function dependenciesOf({ value }: Item): readonly string[] {
  const list = ownField(value, 'dependsOn');
  return Array.isArray(list) ? list.map(String) : [];
}
