/** Lists all objects that match a query. */
import { append } from '../../../lib/lists.ts';
import { NotFound } from '../../../runtime/errors.ts';
import type { Client, Kind, Obj, Query } from '../../../runtime/types.ts';

/**
 * All pages; an empty list if the API server does not serve the kind. @throws the other errors of runtime/errors.ts
 */
export async function listAll<T extends Obj>(
  client: Client,
  kind: Kind<T>,
  query: Query,
): Promise<readonly T[]> {
  const found: T[] = [];
  try {
    for await (const page of client.list(kind, query)) append(found, page.items);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  return found;
}
