/**
 * Clients of target clusters: messages of their servers are shown to users, so they are shortened and name their
 * origin.
 */
import { ApiError } from '../errors.ts';
import type { Client } from '../types.ts';

/**
 * A client whose errors name the server that sent them.
 * @param server the name of the server in a sentence, such as `the server of target x`
 */
export function withServerName(client: Client, server: string): Client {
  const named = (error: unknown): unknown => (error instanceof ApiError ? error.attributedTo(server) : error);
  const nameErrors = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw named(error);
    }
  };
  const nameAllErrors = async function* <T>(work: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* work;
    } catch (error) {
      throw named(error);
    }
  };
  return {
    get: (kind, key, signal) => nameErrors(client.get(kind, key, signal)),
    list: (kind, query, signal) => nameAllErrors(client.list(kind, query, signal)),
    watch: (kind, query, signal) => nameAllErrors(client.watch(kind, query, signal)),
    send: (write, signal) => nameErrors(client.send(write, signal)),
    raw: (method, path, body, signal) => nameErrors(client.raw(method, path, body, signal)),
    close: () => client.close(),
  };
}
