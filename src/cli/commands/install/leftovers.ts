/**
 * Objects of container items, including credentials, whose items no longer exist: the items were force-deleted, or
 * deleted while no deployer ran. The deployer's garbage collection deletes them periodically, but not after an
 * uninstall.
 */
import { KINDS } from '../../../../deployers/container/cleanup.ts';
import { labels } from '../../../../deployers/container/contract.ts';
import { deleteByUid, deletePod } from '../../../../deployers/container/host-objects.ts';
import { POD } from '../../../../deployers/container/kinds.ts';
import { itemOf } from '../../../../deployers/container/names.ts';
import { deployItemKind } from '../../../api/kinds/deployitem.ts';
import { keyOf } from '../../../runtime/keys.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../../runtime/types.ts';
import { roleKind } from './kinds.ts';
import { listAll } from './listing.ts';
import type { Part, RemovalPorts } from './removal.ts';

/** Pods are deleted first, because they use the other objects. */
const kinds = [POD, ...KINDS] as readonly Kind[];

/** The namespaces in which the product may create pods, according to its roles, and its own namespace. */
const podNamespaces = (parts: readonly Part[], home: string): ReadonlySet<string> =>
  new Set([home, ...parts.filter(({ kind }) => kind === roleKind).map(({ key }) => key.split('/')[0] ?? '')]);

/**
 * @param parts objects of the product, which show the namespaces of pods
 * @throws the errors of runtime/errors.ts
 */
export async function leftoversIn(
  { client, namespace: home }: Pick<RemovalPorts, 'client' | 'namespace'>,
  parts: readonly Part[],
): Promise<readonly Part[]> {
  const isThere = itemLookup(client);
  const found: Part[] = [];
  for (const namespace of podNamespaces(parts, home)) {
    for (const kind of kinds) {
      const objects = await listAll(client, kind, { namespace, labels: labels.itemName, metadataOnly: true });
      for (const object of objects) {
        const item = itemOf(object);
        if (item && !(await isThere(`${item.namespace}/${item.name}`)))
          found.push({ kind, key: keyOf(object) });
      }
    }
  }
  return found;
}

function itemLookup(client: Client): (key: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return (key) => {
    const found =
      known.get(key) ??
      getIfThere(client, deployItemKind, key).then((item: View<Obj> | undefined) => item !== undefined);
    known.set(key, found);
    return found;
  };
}

/** Deletes the object. Pods have a finalizer that only the product removes. @throws the errors of runtime/errors.ts */
export async function removeLeftover(part: Part, { client }: Pick<RemovalPorts, 'client'>): Promise<void> {
  const there = await getIfThere(client, part.kind, part.key);
  if (!there) return;
  const place = { client, namespace: there.metadata.namespace ?? '' };
  await (part.kind === (POD as Kind) ? deletePod(place, there) : deleteByUid(place, part.kind, there));
}
