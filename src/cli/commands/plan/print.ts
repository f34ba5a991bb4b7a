/** Prints a plan as text. Secrets are masked here, after all comparisons. Pure. */
import type { PlannedChange, PlannedObject } from '../../../../deployers/sdk/index.ts';
import { describeRef } from '../../../../deployers/objects/manifests/model.ts';
import { annotations } from '../../../api/labels.ts';
import { exactJson } from '../../../lib/exact-json.ts';
import { toYaml } from '../../../lib/yaml.ts';
import { MASK, type Mask } from '../blueprints/rendering/mask.ts';
import type { Paint } from '../../terminal/terminal.ts';
import { countsOf, type Counts } from './counts.ts';
import { lineDiff } from './line-diff.ts';
import type { PlannedItem, PlannedTree, PlannedWait } from './planned.ts';
import { changesOf, withoutSecrets, type ShownChange } from './shown-changes.ts';

interface PlanPrinting {
  readonly paint: Paint;
  readonly mask: Mask;
  /** Whether created and deleted objects are printed completely. */
  readonly hasDetails: boolean;
}

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
    ...driftLines(item, printing),
    '',
  ];
}

/** Not what the job does, so without the signs of changes in the summary. */
function driftLines({ drift }: PlannedItem, printing: PlanPrinting): readonly string[] {
  if (!drift) return [];
  const { paint, mask } = printing;
  const lines = drift.objects.flatMap((object) => objectLines(object, printing));
  return [
    ...(lines.length > 0
      ? [
          `  ${paint.yellow('!')} these objects differ, and the job will not correct them (updateOnChangeOnly):`,
        ]
      : []),
    ...lines.map((line) => `      ${line}`),
    ...(drift.problem === undefined
      ? []
      : [`  ${paint.yellow('?')} objects not compared: ${mask.text(drift.problem)}`]),
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
