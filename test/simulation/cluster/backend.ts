/** Connects the simulated server to the network of the test kit. */
import type { Frame, Kind, Obj, Query, WatchQuery } from '../../../src/runtime/types.ts';
import type { Backend, Feed } from '../../../src/testing/network/backend.ts';
import { describeObject, type Stored } from './objects.ts';
import type { Change, Server } from './server.ts';

interface Watch {
  readonly kind: Kind;
  readonly query: WatchQuery;
  readonly feed: Feed;
}

export function backendOf(server: Server): Backend {
  const watches = new Set<Watch>();
  server.onChange((change) => {
    for (const watch of watches) send(watch, change);
  });
  return {
    get: (kind, key) => server.get(kind, key) as Obj,
    list: (kind, query) => ({
      items: server.list(kind).filter((object) => isIn(object, query)) as Obj[],
      resourceVersion: String(server.version),
    }),
    read: (path) => Promise.reject(new Error(`the server has no ${path}`)),
    write: (write, actor) => server.write(write, actor),
    watch(kind, query, feed) {
      const watch = { kind, query, feed };
      if (query.sendInitialEvents) {
        for (const object of server.list(kind)) send(watch, { type: 'ADDED', object });
        feed.push({ type: 'BOOKMARK', resourceVersion: String(server.version), initialEventsEnd: true });
      } else {
        const from = Number(query.resourceVersion ?? server.version);
        for (const change of server.since(kind, from)) send(watch, change);
      }
      watches.add(watch);
      return () => void watches.delete(watch);
    },
    describe: (object) => describeObject(object),
  };
}

function send({ kind, query, feed }: Watch, { type, object }: Pick<Change, 'type' | 'object'>): void {
  if (object.kind !== kind.kind || !isIn(object, query)) return;
  feed.push({ type, object: object as Obj } satisfies Frame<Obj>);
}

const isIn = ({ metadata }: Stored, { namespace }: Query): boolean =>
  namespace === undefined || metadata.namespace === namespace;
