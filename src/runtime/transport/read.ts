/** Reads objects that may not exist. */
import { NotFound } from '../errors.ts';
import type { Client, Key, Kind, Obj } from '../types.ts';

/**
 * The object from the server, not from a cache; undefined if it does not exist. @throws the other errors of errors.ts
 */
export async function getIfThere<T extends Obj>(
  client: Pick<Client, 'get'>,
  kind: Kind<T>,
  key: Key,
  signal?: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get(kind, key, signal);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
