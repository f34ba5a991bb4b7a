/** A client that changes nothing: writes are sent as dry runs. */
import { DefinitionError } from '../errors.ts';
import type { Client } from '../types.ts';

/** @throws DefinitionError from `raw`, for methods that write */
export const readOnly = (client: Client): Client => ({
  get: (kind, key, signal) => client.get(kind, key, signal),
  list: (kind, query, signal) => client.list(kind, query, signal),
  watch: (kind, query, signal) => client.watch(kind, query, signal),
  send: (write, signal) => client.send({ ...write, isDryRun: true }, signal),
  raw: async (method, path, body, signal) => {
    if (method === 'GET' || method === 'HEAD') return client.raw(method, path, body, signal);
    throw new DefinitionError({ message: `${method} ${path} is a write, but this client is read-only` });
  },
  close: () => client.close(),
});
