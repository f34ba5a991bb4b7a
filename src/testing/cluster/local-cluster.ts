/** The embedded API server at the end of the simulated network, with a record of what each process created. */
import { startLocalApiServer, type LocalApiServer } from '../../apiserver/local.ts';
import type { Change } from '../../apiserver/store/storage.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { NotFound } from '../../runtime/errors.ts';
import { keyOf } from '../../runtime/keys.ts';
import { leaseKind, type LeaseObject } from '../../runtime/manager/lease.ts';
import { createClient } from '../../runtime/transport/client.ts';
import type { Client, Key, Kind, Obj, View, Write } from '../../runtime/types.ts';
import type { ServedConversion } from '../../runtime/conversion/served.ts';
import type { Backend } from '../network/backend.ts';
import { loggerOf } from '../process/host.ts';
import { localConversions } from './conversions.ts';
import { localConnection } from './local-connection.ts';

/** A change of an object on the server. */
export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Absent if it was added. */
  readonly before: View<Obj> | undefined;
  /** In the stored version; for a deletion, the last state of the object. */
  readonly object: View<Obj>;
  /** Whose request it was: `user`, or the process of an operator, such as `operator#2`. Undefined: the server's own. */
  readonly by: string | undefined;
}

/** Objects that record events, not desired state. */
const isUpkeep = (kind: string): boolean => kind === 'Event' || kind === 'Lease';

export interface LocalCluster {
  readonly backend: Backend;
  /** A client without faults, whose requests are answered at once. */
  clientOf(name: string): Client;
  /** Called after each change, except for those of Events and Leases. */
  onChange(listener: (change: ObjectChange) => void): void;
  /** The holder of a Lease. */
  holderOf(lease: Key): string | undefined;
  /** Called with all Leases when the holder of one of them has changed. */
  onHolder(listener: (leases: Iterable<View<LeaseObject>>) => void): void;
  /** The objects that processes with this field manager created and that still exist. */
  createdBy(manager: string): readonly { readonly kind: Kind; readonly object: Obj }[];
  /** The last error of a controller of the server, such as a pod that a template does not allow; for messages. */
  readonly lastFailure: string | undefined;
  close(): void;
}

interface Created {
  readonly kind: Kind;
  readonly actor: string;
}

export async function startLocalCluster(
  ports: { readonly clock: Clock; readonly rng: Rng },
  options: { readonly workloads: boolean; readonly conversions: readonly ServedConversion[] },
): Promise<LocalCluster> {
  // Nothing here expires, or belongs to service accounts; both would only cost time.
  const controllers = { eventExpiry: false, aggregation: false };
  const { workloads: simulate } = options;
  const postConversion = localConversions(options.conversions);
  let lastFailure: string | undefined;
  const log = workloadLog((description) => (lastFailure = description));
  const server = await startLocalApiServer({ ...ports, simulate, controllers, postConversion, log });
  const clientOf = (name: string): Client => createClient(localConnection(server, name, ports.clock));
  const clients = new Map<string, Client>();
  const clientFor = (actor: string): Client => {
    const name = managerOf(actor);
    const client = clients.get(name) ?? clientOf(name);
    clients.set(name, client);
    return client;
  };
  const created = new Map<string, Created>();
  const writing: { actor: string | undefined } = { actor: undefined };
  const backend = backendOf(clientOf('simulation'), clientFor, created, writing);
  const leases = new Map<Key, View<LeaseObject>>();
  const onHolder: ((leases: Iterable<View<LeaseObject>>) => void)[] = [];
  server.store.listeners.add((_, { prev, next }) => {
    const lease = (next?.obj ?? prev?.obj) as View<LeaseObject>;
    if (lease.kind !== leaseKind.kind) return;
    const key = keyOf(lease);
    const before = leases.get(key)?.spec?.holderIdentity;
    if (next) leases.set(key, lease);
    else leases.delete(key);
    if (leases.get(key)?.spec?.holderIdentity !== before)
      for (const listener of onHolder) listener(leases.values());
  });
  return {
    backend,
    clientOf,
    onChange(listener) {
      server.store.listeners.add((_, change) => {
        const known = changeOf(change, writing.actor);
        if (!isUpkeep(known.object.kind)) listener(known);
      });
    },
    holderOf: (lease) => leases.get(lease)?.spec?.holderIdentity,
    onHolder: (listener) => void onHolder.push(listener),
    createdBy: (manager) =>
      [...created].flatMap(([uid, { kind, actor }]) => {
        const object =
          managerOf(actor) === manager && !isUpkeep(kind.kind) ? objectOf(server, uid) : undefined;
        return object ? [{ kind, object }] : [];
      }),
    get lastFailure() {
      return lastFailure;
    },
    close: () => server.close(),
  };
}

/**
 * @param created is filled with the uids of the objects that processes create
 * @param writing is set to the process whose write takes effect; the scheduler carries out one at a time
 */
function backendOf(
  reader: Client,
  clientFor: (actor: string) => Client,
  created: Map<string, Created>,
  writing: { actor: string | undefined },
): Backend {
  const as = async <T>(actor: string, request: () => Promise<T>): Promise<T> => {
    writing.actor = actor;
    try {
      return await request();
    } finally {
      writing.actor = undefined;
    }
  };
  return {
    get: (kind, key) => reader.get(kind, key),
    async list(kind, query) {
      for await (const page of reader.list(kind, { ...query, limit: EVERYTHING })) return page;
      return { items: [], resourceVersion: '' };
    },
    read: (path) => reader.raw('GET', path),
    async write(write, actor) {
      const isNew = await isMissing(reader, write);
      const object = await as(actor, () => clientFor(actor).send(write));
      const { uid } = object.metadata;
      if (isNew && uid !== undefined && !write.isDryRun) created.set(uid, { kind: write.kind, actor });
      return object;
    },
    async watch(kind, query, feed) {
      const life = new AbortController();
      const frames = reader.watch(kind, query, life.signal)[Symbol.asyncIterator]();
      await frames.next();
      void (async () => {
        for (let next = await frames.next(); !next.done; next = await frames.next()) feed.push(next.value);
        feed.end();
      })().catch(() => feed.end());
      return () => life.abort(new Error('the watch is over'));
    },
    describe: describeObject,
  };
}

function changeOf({ prev, next }: Change, by: string | undefined): ObjectChange {
  const before = prev?.obj as View<Obj> | undefined;
  const object = (next?.obj ?? prev?.obj) as View<Obj>;
  return { type: next ? (prev ? 'MODIFIED' : 'ADDED') : 'DELETED', before, object, by };
}

/** A log that reports what simulated workloads could not create. */
const workloadLog = (onFailure: (description: string) => void): Logger =>
  loggerOf({
    warn(fields) {
      const { owner, created, reason } = fields as Record<string, string | undefined>;
      if (owner !== undefined) onFailure(`${owner} cannot create a ${String(created)}: ${String(reason)}`);
    },
  });

/** Processes that replace each other have the same field manager: `operator` for `operator#2`. */
const managerOf = (actor: string): string => actor.split('#')[0] ?? actor;

const EVERYTHING = 10_000;

function objectOf({ store }: LocalApiServer, uid: string): Obj | undefined {
  const ref = store.byUid(uid);
  return ref && store.get(ref.resource, ref.key)?.obj;
}

/** Whether the write creates its object if it succeeds. */
async function isMissing(client: Client, write: Write): Promise<boolean> {
  if (write.verb === 'create') return true;
  if (write.verb !== 'apply') return false;
  try {
    await client.get(write.kind, keyOf(write.object));
    return false;
  } catch (error) {
    if (error instanceof NotFound) return true;
    throw error;
  }
}

/** `Deployment web, going`, and the conditions in its status. */
export function describeObject({ kind, metadata, ...rest }: View<Obj>): string {
  const { status = {} } = rest as { status?: { phase?: string; conditions?: readonly Condition[] } };
  const conditions = (status.conditions ?? []).map(({ type, status: value }) => `${type}=${value}`);
  return [
    `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`,
    ...(status.phase ? [status.phase] : []),
    ...conditions,
    ...(metadata.deletionTimestamp ? ['is being deleted'] : []),
  ].join(' ');
}

interface Condition {
  readonly type: string;
  readonly status: string;
}
