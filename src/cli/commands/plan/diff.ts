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
