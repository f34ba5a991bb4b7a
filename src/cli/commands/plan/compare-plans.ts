/** What a job would do that a saved plan does not list. Pure. */
import { exactJson } from '../../../lib/exact-json.ts';
import { equal } from '../../../lib/json.ts';
import { diffOf } from './diff.ts';
import type { ItemDocument, ObjectDocument, PlanDocument } from './document.ts';
import { withoutAssigned } from './server-assigned.ts';

/** One thing that a job does; those with the same key are compared by value. */
interface Action {
  readonly key: string;
  /** `+ ConfigMap shop/new`, with the deploy item. */
  readonly title: string;
  readonly value?: unknown;
}

/**
 * One line for each difference. The job may do less than the saved plan lists: a change that has already been made
 * is not a difference.
 */
export function unlisted(fresh: PlanDocument, saved: PlanDocument): readonly string[] {
  const listed = new Map(actionsOf(saved).map((action) => [action.key, action]));
  return actionsOf(fresh).flatMap((action) => {
    const planned = listed.get(action.key);
    if (!planned) return [`${action.title}${shownValue(action)}: not in the saved plan`];
    return valueLines(action, planned);
  });
}

const shown = (value: unknown): string => (value === undefined ? 'nothing' : exactJson(value));

interface FieldValue {
  readonly before?: unknown;
  readonly after?: unknown;
}
const shownField = ({ before, after }: FieldValue): string => `${shown(before)} → ${shown(after)}`;

/** Complete objects are too long. */
const shownValue = ({ title, value }: Action): string =>
  title.startsWith('~') ? `: ${shownField(value as FieldValue)}` : '';

function valueLines({ title, value }: Action, planned: Action): readonly string[] {
  if (equal(value, planned.value)) return [];
  if (title.startsWith('~'))
    return [
      `${title}: ${shownField(value as FieldValue)}; planned: ${shownField(planned.value as FieldValue)}`,
    ];
  return diffOf(planned.value, value).map(
    ({ path, before, after }) => `${title}: ${path}: ${shown(after)}; planned: ${shown(before)}`,
  );
}

const actionsOf = ({ items, problems }: PlanDocument): readonly Action[] => [
  ...items.flatMap(actionsOfItem),
  ...problems.map(({ path, message, isUnknown }) => ({
    key: exactJson(['installation', path, message]),
    title: `${isUnknown ? '?' : '✖'} Installation ${path}: ${message}`,
  })),
];

const stateTitles: Readonly<Partial<Record<ItemDocument['state'], string>>> = {
  new: 'is created',
  changed: 'its configuration changes',
  gone: 'is deleted',
};

function actionsOfItem(item: ItemDocument): readonly Action[] {
  const { path, type, target, state, isKnown, note, problem } = item;
  const name = `DeployItem ${path}${target === undefined ? '' : ` on target ${target}`}`;
  const action = (title: string, ...key: readonly string[]): Action => ({
    key: exactJson([path, type, target ?? '', ...key]),
    title,
  });
  const stateTitle = stateTitles[state];
  return [
    ...(stateTitle === undefined ? [] : [action(`${name}: ${stateTitle}`, 'state', state)]),
    ...(isKnown || problem !== undefined
      ? []
      : [action(`? ${name}: ${note ?? 'not known'}`, 'unknown', note ?? '')]),
    ...(problem === undefined ? [] : [action(`✖ ${name}: ${problem}`, 'problem', problem)]),
    ...item.notes.map((text) => action(`! ${name}: ${text}`, 'note', text)),
    ...item.objects.flatMap((object) => actionsOfObject(object, name, action)),
  ];
}

function actionsOfObject(
  object: ObjectDocument,
  item: string,
  action: (title: string, ...key: readonly string[]) => Action,
): readonly Action[] {
  const { change, apiVersion, kind, namespace, name, problem } = object;
  const ref = [apiVersion, kind, namespace ?? '', name];
  const title = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} (${item})`;
  const failing = problem === undefined ? [] : [action(`✖ ${title}: ${problem}`, ...ref, 'problem', problem)];
  switch (change) {
    case 'create':
      return [
        ...failing,
        {
          ...action(`+ ${title}`, ...ref, 'create'),
          value: withoutAssigned(kind, object.content),
        },
      ];
    case 'change':
      return [
        ...failing,
        ...(object.fields ?? []).map(({ path, ...value }) => ({
          ...action(`~ ${title}: ${path}`, ...ref, 'change', path),
          value,
        })),
      ];
    case 'delete':
      return [...failing, action(`- ${title}`, ...ref, 'delete')];
    case 'unchanged':
    case 'kept':
      return failing;
  }
}
