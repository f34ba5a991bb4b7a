/** Prints a plan as text or JSON. Secrets are masked here, after all comparisons. Pure. */
import type { PlannedChange, PlannedObject } from '../../../../deployers/sdk/index.ts';
import { describeRef } from '../../../../deployers/objects/manifests/model.ts';
import { annotations } from '../../../api/labels.ts';
import { exactJson } from '../../../lib/exact-json.ts';
import { isObject, type Fields } from '../../../lib/objects.ts';
import { toYaml } from '../../../lib/yaml.ts';
import { MASK, type Mask } from '../blueprints/rendering/mask.ts';
import type { Paint } from '../../terminal/terminal.ts';
import { diffOf, lineDiff, type FieldChange } from './diff.ts';
import type { PlannedItem, PlannedTree, PlannedWait } from './planned.ts';

interface PlanPrinting {
  readonly paint: Paint;
  readonly mask: Mask;
  /** Whether created and deleted objects are printed completely. */
  readonly hasDetails: boolean;
}

type Counts = Readonly<Record<PlannedChange | 'unknown' | 'problems', number>>;

export function countsOf({ items, problems }: PlannedTree): Counts {
  const objects = items.flatMap(({ plan }) => plan?.objects ?? []);
  const count = (change: PlannedChange): number => objects.filter((one) => one.change === change).length;
  return {
    create: count('create'),
    change: count('change'),
    delete: count('delete'),
    unchanged: count('unchanged'),
    kept: count('kept'),
    unknown:
      items.filter(({ plan, problem }) => !plan && problem === undefined).length +
      problems.filter(({ isUnknown }) => isUnknown).length,
    problems:
      items.filter(({ problem }) => problem !== undefined).length +
      objects.filter(({ problem }) => problem !== undefined).length +
      problems.filter(({ isUnknown }) => !isUnknown).length,
  };
}

export const hasChanges = ({ create, change, delete: gone }: Counts): boolean => create + change + gone > 0;

/** The lines, without line breaks. */
export function planLines(tree: PlannedTree, printing: PlanPrinting): readonly string[] {
  const { paint, mask } = printing;
  return [
    ...tree.items.flatMap((item) => itemLines(item, printing)),
    ...tree.problems.map(({ path, message, isUnknown }) =>
      isUnknown
        ? `${paint.yellow('?')} Installation ${path}: ${mask.text(message)}`
        : `${paint.red('✖')} Installation ${path}: ${mask.text(message)}`,
    ),
    ...tree.waits.map((wait) => `${paint.yellow('!')} ${waitLine(wait)}`),
    summary(countsOf(tree), paint),
  ];
}

function waitLine({ path, importers }: PlannedWait): string {
  const names = importers.join(', ');
  const verb = importers.length === 1 ? 'imports its exports and has' : 'import its exports and have';
  return (
    `Installation ${path}: its deletion deletes nothing yet: ${names} ${verb} to be deleted first; ` +
    `or annotate ${path} with ${annotations.deleteIgnoreSuccessors}=true`
  );
}

const signs: Readonly<Record<PlannedChange, string>> = {
  create: '+',
  change: '~',
  delete: '-',
  unchanged: '=',
  kept: '=',
};

function painted(change: PlannedChange, paint: Paint): (text: string) => string {
  switch (change) {
    case 'create':
      return paint.green;
    case 'change':
      return paint.yellow;
    case 'delete':
      return paint.red;
    case 'unchanged':
    case 'kept':
      return paint.dim;
  }
}

const states: Readonly<Record<PlannedItem['state'], string>> = {
  new: ', new',
  changed: ', its configuration changes',
  same: '',
  gone: ', goes',
  idle: '',
};

function itemLines(item: PlannedItem, printing: PlanPrinting): readonly string[] {
  const { paint, mask } = printing;
  const where = item.target === undefined ? '' : ` on target ${item.target}`;
  return [
    `${paint.bold(`DeployItem ${item.path}`)}${paint.dim(`${where}${states[item.state]}`)}`,
    ...(item.problem === undefined ? [] : [`  ${paint.red('✖')} ${mask.text(item.problem)}`]),
    ...(item.note === undefined
      ? []
      : [`  ${item.plan ? paint.dim(`= ${item.note}`) : `${paint.yellow('?')} ${item.note}`}`]),
    ...(item.plan?.objects ?? []).flatMap((object) =>
      objectLines(object, printing).map((line) => `  ${line}`),
    ),
    ...(item.plan?.notes ?? []).map((note) => `  ${paint.yellow('!')} ${mask.text(note)}`),
    '',
  ];
}

function objectLines(object: PlannedObject, printing: PlanPrinting): readonly string[] {
  const { paint, mask, hasDetails } = printing;
  const { change, note, problem, before, after } = object;
  const colour = painted(change, paint);
  const title = `${signs[change]} ${describeRef(object.ref)}`;
  const why = note === undefined ? '' : paint.dim(` (${mask.text(note)})`);
  const whole = change === 'create' ? after : change === 'delete' ? before : undefined;
  return [
    colour(title) + why,
    ...(problem === undefined ? [] : [`    ${paint.red('✖')} ${mask.text(problem)}`]),
    ...(change === 'change' ? changesOf(object).flatMap((one) => fieldLines(one, printing)) : []),
    ...(hasDetails && whole
      ? toYaml(mask.value(withoutSecrets(whole)))
          .trimEnd()
          .split('\n')
          .map((line) => colour(`    ${line}`))
      : []),
  ];
}

// ---------------------------------------------------------------- fields

interface ShownChange extends FieldChange {
  /** Whether the content is secret: the output only shows that it changes. */
  readonly isSecret: boolean;
}

const changesOf = ({ ref, before, after }: PlannedObject): readonly ShownChange[] =>
  diffOf(before, after).map((one) => ({ ...one, isSecret: ref.kind === 'Secret' && isContent(one.path) }));

/** An annotation of kubectl contains the whole object. */
const isContent = (path: string): boolean =>
  /^(data|stringData)\b/.test(path) || path.includes('last-applied-configuration');

function fieldLines(change: ShownChange, { paint, mask }: PlanPrinting): readonly string[] {
  const { path, before, after, isSecret } = change;
  if (!isSecret && typeof before === 'string' && typeof after === 'string' && isLong(before, after)) {
    return [
      `    ${paint.yellow('~')} ${path}:`,
      ...lineDiff(before, after).map(({ sign, line }) => {
        const text = `        ${sign} ${mask.text(line)}`;
        return sign === '+' ? paint.green(text) : sign === '-' ? paint.red(text) : paint.dim(text);
      }),
    ];
  }
  const show = (value: unknown): string => (isSecret ? MASK : inline(mask.value(value)));
  if (before === undefined) return [paint.green(`    + ${path}: ${show(after)}`)];
  if (after === undefined) return [paint.red(`    - ${path}: ${show(before)}`)];
  return [`    ${paint.yellow('~')} ${path}: ${paint.red(show(before))} → ${paint.green(show(after))}`];
}

const isLong = (before: string, after: string): boolean => before.includes('\n') || after.includes('\n');

const MAX_INLINE = 200;
const inline = (value: unknown): string => {
  const text = exactJson(value);
  return text.length <= MAX_INLINE ? text : `${text.slice(0, MAX_INLINE - 1)}…`;
};

function withoutSecrets(object: Fields): Fields {
  if (object['kind'] !== 'Secret') return object;
  const masked = Object.fromEntries(
    ['data', 'stringData']
      .filter((field) => isObject(object[field]))
      .map((field) => [
        field,
        Object.fromEntries(Object.keys(object[field] as Fields).map((key) => [key, MASK])),
      ]),
  );
  return { ...object, ...masked };
}

function summary(counts: Counts, paint: Paint): string {
  const parts = [
    paint.green(`${String(counts.create)} to create`),
    paint.yellow(`${String(counts.change)} to change`),
    paint.red(`${String(counts.delete)} to delete`),
    `${String(counts.unchanged + counts.kept)} unchanged`,
    ...(counts.unknown > 0 ? [paint.yellow(`${String(counts.unknown)} not known`)] : []),
    ...(counts.problems > 0 ? [paint.red(`${String(counts.problems)} would fail`)] : []),
  ];
  return `Plan: ${parts.join(', ')}`;
}

// ---------------------------------------------------------------- JSON

export function planDocument(tree: PlannedTree, mask: Mask): object {
  return {
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plan',
    items: tree.items.map(({ path, type, target, state, plan, problem, note }) => ({
      path,
      type,
      target,
      state,
      isKnown: plan !== undefined,
      ...(problem !== undefined && { problem: mask.text(problem) }),
      ...(note !== undefined && { note }),
      objects: (plan?.objects ?? []).map((object) => objectDocument(object, mask)),
      notes: (plan?.notes ?? []).map((text) => mask.text(text)),
    })),
    problems: tree.problems.map((one) => ({ ...one, message: mask.text(one.message) })),
    waits: tree.waits,
    summary: countsOf(tree),
  };
}

function objectDocument(object: PlannedObject, mask: Mask): object {
  const { apiVersion, kind, namespace, name } = object.ref;
  const fields = object.change === 'change' ? changesOf(object) : [];
  const value = (change: ShownChange, side: 'before' | 'after'): object =>
    change[side] === undefined ? {} : { [side]: change.isSecret ? MASK : mask.value(change[side]) };
  return {
    change: object.change,
    apiVersion,
    kind,
    ...(namespace && { namespace }),
    name,
    ...(object.note !== undefined && { note: mask.text(object.note) }),
    ...(object.problem !== undefined && { problem: mask.text(object.problem) }),
    ...(fields.length > 0 && {
      fields: fields.map((change) => ({
        path: change.path,
        ...value(change, 'before'),
        ...value(change, 'after'),
      })),
    }),
  };
}
