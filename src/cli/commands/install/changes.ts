/** Summarises the changes of a write in one line. Pure. */
import { equal } from '../../../lib/json.ts';
import { isObject, type Fields } from '../../../lib/objects.ts';
import type { Obj, View } from '../../../runtime/types.ts';

/** Fields that the API server sets. */
const SERVER_FIELDS = ['resourceVersion', 'generation', 'managedFields', 'uid', 'creationTimestamp'];
const DEPLOYMENT_REVISION = 'deployment.kubernetes.io/revision';
const MAX_NAMED = 4;

/** Names of the innermost fields that differ; empty if there are none. */
export function changedFields(before: View<Obj>, after: View<Obj>): readonly string[] {
  const found = new Set<string>();
  collect(comparableFields(before), comparableFields(after), '', found);
  const names = [...found];
  return names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), '…'] : names;
}

function comparableFields(object: View<Obj>): Fields {
  const { status: _status, metadata, ...rest } = object as unknown as Fields & { readonly metadata: Fields };
  const kept = Object.entries(metadata).filter(([key]) => !SERVER_FIELDS.includes(key));
  const { annotations, ...more } = Object.fromEntries(kept) as { annotations?: Fields };
  const { [DEPLOYMENT_REVISION]: _revision, ...reported } = annotations ?? {};
  return { ...rest, metadata: { ...more, annotations: reported } };
}

function collect(before: unknown, after: unknown, name: string, found: Set<string>): void {
  if (equal(before, after)) return;
  const isList = Array.isArray(before) && Array.isArray(after) && before.length === after.length;
  if (isList || (isObject(before) && isObject(after))) {
    const [a, b] = [before as Fields, after as Fields];
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      collect(a[key], b[key], isList ? name : key, found);
    return;
  }
  found.add(name);
}
