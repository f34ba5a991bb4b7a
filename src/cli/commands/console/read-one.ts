/** Checks that the console can read landscapes, before it watches them. */
import { deployItemKind, executionKind, installationKind } from '../../../api/landscaper-kinds.ts';
import type { Client, Obj } from '../../../runtime/types.ts';

/**
 * Reads one object of each kind, since a watch waits for definitions and permissions.
 * @param namespaces undefined: all
 * @throws ApiError that names what is missing
 */
export async function readOne(client: Client, namespaces: readonly string[] | undefined): Promise<void> {
  const queries = namespaces === undefined ? [{}] : namespaces.map((namespace) => ({ namespace }));
  for (const query of queries)
    for (const kind of [installationKind, executionKind, deployItemKind])
      for await (const _ of client.list<Obj>(kind, { limit: 1, ...query })) break;
}
