/** The difference between two JSON values, field by field. Pure. */
import { equal } from '../../../lib/json.ts';
import { isObject, ownField } from '../../../lib/objects.ts';

/** `before` is absent for added fields, `after` for removed ones. */
export interface FieldChange {
  /** `spec.template.spec.containers[web].image` */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export function diffOf(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (equal(before, after)) return [];
  if (before === undefined) return [{ path, after }];
  if (after === undefined) return [{ path, before }];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => diffOf(ownField(before, name), ownField(after, name), below(path, name)));
  }
  if (Array.isArray(before) && Array.isArray(after)) return diffOfLists(before, after, path);
  return [{ path, before, after }];
}

/** Names that contain dots, for example of annotations, are put in brackets. */
const below = (path: string, name: string): string => {
  if (/[.[\]/]/.test(name)) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
};

/** Elements with a name are compared by name, others by position. */
function diffOfLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): readonly FieldChange[] {
  const [old, now] = [byName(before), byName(after)];
  if (old && now) {
    const names = [...new Set([...old.keys(), ...now.keys()])];
    const changes = names.flatMap((name) => diffOf(old.get(name), now.get(name), `${path}[${name}]`));
    return changes.length > 0 ? changes : [{ path, before: [...old.keys()], after: [...now.keys()] }];
  }
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, i) => diffOf(before[i], after[i], `${path}[${String(i)}]`)).flat();
}

function byName(list: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>();
  for (const element of list) {
    const name = ownField(element, 'name');
    if (typeof name !== 'string' || named.has(name)) return undefined;
    named.set(name, element);
  }
  return named.size > 0 ? named : undefined;
}

/** One line of a string: unchanged, removed or added. */
interface LineChange {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

const CONTEXT_LINES = 2;
/** Above this size, all lines are shown as removed and added. */
const MAX_CELLS = 4_000_000;

/** The different lines of two strings with some context; `…` marks omitted lines. */
export function lineDiff(before: string, after: string): readonly LineChange[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const all = old.length * now.length > MAX_CELLS ? wholesale(old, now) : longestCommon(old, now);
  const isNear = (at: number): boolean =>
    all.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ sign }) => sign !== ' ');
  const shown: LineChange[] = [];
  for (const [i, change] of all.entries()) {
    if (isNear(i)) shown.push(change);
    else if (shown.at(-1)?.line !== '…') shown.push({ sign: ' ', line: '…' });
  }
  return shown;
}

const wholesale = (old: readonly string[], now: readonly string[]): LineChange[] => [
  ...old.map((line) => ({ sign: '-' as const, line })),
  ...now.map((line) => ({ sign: '+' as const, line })),
];

function longestCommon(old: readonly string[], now: readonly string[]): LineChange[] {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const result: LineChange[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      result.push({ sign: ' ', line: old[i++] ?? '' });
      j++;
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      result.push({ sign: '-', line: old[i++] ?? '' });
    } else result.push({ sign: '+', line: now[j++] ?? '' });
  }
  return result;
}
