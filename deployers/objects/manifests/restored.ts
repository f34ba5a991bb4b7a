/**
 * Annotations and labels that an update removes, and that a component of Kubernetes sets again at once. The Deployment
 * controller, for example, sets `deployment.kubernetes.io/revision`, each job with the strategy `update` removes it,
 * and the controller restores it. Such a removal is not a difference that the next job makes. Pure.
 */
import { isObject, ownField } from '../../../src/lib/objects.ts';
import type { KubeObject } from './model.ts';

/** Field managers of the components; k3s runs them in one process. A field of another manager may be a user's. */
const COMPONENTS: ReadonlySet<string> = new Set([
  'kube-apiserver',
  'kube-controller-manager',
  'cloud-controller-manager',
  'kube-scheduler',
  'kubelet',
  'k3s',
]);

interface Restored {
  readonly after: KubeObject;
  /** A sentence about the removed fields; undefined if there are none. */
  readonly note: string | undefined;
}

/**
 * @param before as the cluster has it, with managed fields
 * @param after as the cluster would store it
 * @returns `after` with the fields that are set again
 */
export function restored(before: KubeObject, after: KubeObject): Restored {
  const removed: string[] = [];
  const managers = new Set<string>();
  const metadata = { ...after.metadata };
  for (const field of ['annotations', 'labels'] as const) {
    for (const [key, value] of Object.entries(before.metadata[field] ?? {})) {
      if (ownField(metadata[field], key) !== undefined) continue;
      const owners = managersOf(before, field, key);
      if (owners.length === 0 || !owners.every((owner) => COMPONENTS.has(owner))) continue;
      metadata[field] = { ...metadata[field], [key]: value };
      removed.push(`metadata.${field}[${key}]`);
      for (const owner of owners) managers.add(owner);
    }
  }
  if (removed.length === 0) return { after, note: undefined };
  const [who, verb] = [[...managers].join(', '), managers.size === 1 ? 'sets' : 'set'];
  return {
    after: { ...after, metadata },
    note: `the job removes ${removed.join(', ')}, which ${who} ${verb} again`,
  };
}

/** Managers that own this annotation or label. */
function managersOf(object: KubeObject, field: string, key: string): readonly string[] {
  const entries: unknown = ownField(object.metadata, 'managedFields');
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    const fields = ownField(ownField(ownField(entry, 'fieldsV1'), 'f:metadata'), `f:${field}`);
    const manager = ownField(entry, 'manager');
    return typeof manager === 'string' && isObject(fields) && `f:${key}` in fields ? [manager] : [];
  });
}
