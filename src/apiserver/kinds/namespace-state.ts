/** Whether a namespace accepts new objects. */
import type { World } from '../api.ts';
import type { Kind } from './kinds.ts';
import { forbidden, notFound } from '../status.ts';

/** @throws ApiError 404 if the namespace does not exist, 403 if it is terminating */
export function assertNamespaceOpen(world: World, kind: Kind, namespace: string, name: string): void {
  const entry = world.store.get('/namespaces', namespace);
  if (!entry) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  if (entry.obj.metadata.deletionTimestamp === undefined) return;
  throw forbidden(
    kind,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}
