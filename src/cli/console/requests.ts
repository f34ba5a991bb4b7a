/** Actions on landscapes: which the user may request, what a deletion deletes, and the requests. */
import { exportedNames, importedNames } from '../../api/data-names.ts';
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import { annotations, operations } from '../../api/labels.ts';
import { installationKind } from '../../api/landscaper-kinds.ts';
import { append } from '../../lib/lists.ts';
import { isObject, ownField, type View } from '../../lib/objects.ts';
import type { Client, Kind } from '../../runtime/types.ts';
import type { Node } from '../tree/tree.ts';
import { managedResourcesOf } from './slim.ts';
import type { Action, Deletion, Rights } from './wire.ts';

/** Reads the user's rights from the API server. */
export async function rightsOf(client: Client, namespace: string): Promise<Rights> {
  const [canPatch, canDelete] = await Promise.all([
    isAllowed(client, 'patch', namespace),
    isAllowed(client, 'delete', namespace),
  ]);
  return {
    reconcile: canPatch,
    interrupt: canPatch,
    suspend: canPatch,
    resume: canPatch,
    delete: canDelete,
  };
}

/** Whether the user may do this. @param namespace undefined: in all namespaces */
export async function isAllowed(
  client: Client,
  verb: string,
  namespace: string | undefined,
  { kind = installationKind, signal }: { readonly kind?: Kind; readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const resource = { group: kind.group, resource: kind.plural, verb };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { ...resource, ...(namespace !== undefined && { namespace }) } },
  };
  const answer = await client.raw(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    review,
    signal,
  );
  return isObject(answer) && ownField(answer['status'], 'allowed') === true;
}

/** The annotations that an action writes; null removes one. */
const changes: Readonly<Record<Exclude<Action, 'delete'>, Readonly<Record<string, string | null>>>> = {
  reconcile: { [annotations.operation]: operations.reconcile },
  interrupt: { [annotations.operation]: operations.interrupt },
  suspend: { [annotations.suspended]: 'true' },
  resume: { [annotations.suspended]: null },
};

/**
 * Sends the request in the user's name.
 * @param uid of the installation that the user saw: a new one with the same name is not deleted
 */
export async function request(
  client: Client,
  key: string,
  { action, uid }: { readonly action: Action; readonly uid: string },
): Promise<void> {
  if (action === 'delete') {
    await client.send({ verb: 'delete', kind: installationKind, key, uid });
    return;
  }
  const body = { metadata: { uid, annotations: changes[action] } };
  await client.send<Installation>({ verb: 'merge', kind: installationKind, key, body });
}

export function deletionOf(root: Node, roots: readonly Node[]): Deletion {
  const parts: { kind: string; name: string }[] = [];
  const objects: { kind: string; name: string }[] = [];
  const visit = (node: Node): void => {
    parts.push({ kind: node.kind, name: node.name });
    if (node.kind === 'DeployItem')
      append(
        objects,
        managedResourcesOf(node.object as DeployItem).map(({ kind, namespace, name }) => ({
          kind,
          name: namespace === '' ? name : `${namespace}/${name}`,
        })),
      );
    node.children.forEach(visit);
  };
  visit(root);
  return { uid: root.object.metadata.uid ?? '', parts, objects, importers: importersOf(root, roots) };
}

function importersOf(root: Node, roots: readonly Node[]): readonly string[] {
  const specOf = ({ object }: Node) => (object as View<Installation>).spec;
  const exported = exportedNames(specOf(root));
  return roots
    .filter((other) => other !== root && other.namespace === root.namespace)
    .filter((other) => [...importedNames(specOf(other))].some((name) => exported.has(name)))
    .map(({ name }) => name);
}
