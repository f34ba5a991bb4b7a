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
export function foreign(client: Client, server: string): Client {
  const marked = (error: unknown): unknown =>
    error instanceof ApiError ? error.attributedTo(server) : error;
  const mark = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw marked(error);
    }
  };
  const markAll = async function* <T>(work: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* work;
    } catch (error) {
      throw marked(error);
    }
  };
  return {
    get: (kind, key, signal) => mark(client.get(kind, key, signal)),
    list: (kind, query, signal) => markAll(client.list(kind, query, signal)),
    watch: (kind, query, signal) => markAll(client.watch(kind, query, signal)),
    send: (write, signal) => mark(client.send(write, signal)),
    raw: (method, path, body, signal) => mark(client.raw(method, path, body, signal)),
    close: () => client.close(),
  };
}
