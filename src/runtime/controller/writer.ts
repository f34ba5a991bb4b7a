/** Sends writes in a controller's name: checks the fence first, and notifies the caches before and after. */
import { isSameKind, joinKey, keyOf } from '../keys.ts';
import type { Cache, Caches, Client, Key, Kind, Obj, View, Write, Writer, WriteTicket } from '../types.ts';
import type { OwnWrite } from './fight-detector.ts';
import { isOutdated, withResourceVersion } from './optimistic-lock.ts';

/** Throws if this process must not write, because it lost its leadership or is stopping. */
export type Fence = () => void;

interface WriterPorts {
  readonly client: Client;
  readonly caches: Caches;
  readonly fence: Fence;
  /** The name by which caches recognise own writes. */
  readonly name: string;
  /** Called after each write that certainly changed an object of a cache. */
  readonly onWritten?: (write: OwnWrite) => void;
}

/** @param life its signal is used by writes without a signal */
export function createWriter(ports: WriterPorts, life?: { readonly signal: AbortSignal }): Writer {
  return async <T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T> => {
    ports.fence();
    const key = keyOfWrite(write);
    const caches = cachesOf(ports, write);
    const tickets = key === undefined ? [] : openTickets(ports, caches, key, write.echo);
    const before = key === undefined || !ports.onWritten ? undefined : caches[0]?.peek(key);
    let sent: Write<T>;
    let answer: T;
    try {
      [sent, answer] = await send(ports.client, write, key, caches, signal ?? life?.signal);
    } catch (error) {
      for (const ticket of tickets) ticket.failed();
      throw error;
    }
    if (write.verb === 'delete' && !isStillThere(answer)) {
      for (const ticket of tickets) ticket.failed();
      return answer;
    }
    // A generated name is known only now; the caches must still contain the object for the next read.
    const late = key === undefined ? openTickets(ports, caches, keyOf(answer), write.echo) : [];
    const isOurs = isConditional(sent) && !isUnchanged(sent, answer);
    for (const ticket of [...tickets, ...late]) ticket.done(answer, isOurs);
    if (isOurs && key !== undefined) reportOwn(ports, write.kind, key, before, answer, caches[0]);
    return answer;
  };
}

/** Reports a write whose result the cache shows, in the form of the cache. */
function reportOwn(
  { onWritten }: WriterPorts,
  kind: Kind<never> | Kind,
  key: Key,
  before: View<Obj> | undefined,
  answer: Obj,
  cache: Cache<Obj> | undefined,
): void {
  if (!onWritten) return;
  const after = cache?.peek(key);
  if (after?.metadata.resourceVersion === answer.metadata.resourceVersion && after)
    onWritten({ kind: kind, key, before, after });
}

/** Sends a write, with the version in the cache if it has none. @returns the write as it was sent, and the answer */
async function send<T extends Obj>(
  client: Client,
  write: Write<T>,
  key: Key | undefined,
  caches: readonly Cache<Obj>[],
  signal: AbortSignal | undefined,
): Promise<[Write<T>, T]> {
  const first = key === undefined ? undefined : withResourceVersion(write, key, caches);
  if (first) {
    try {
      return [first, await client.send(first, signal)];
    } catch (error) {
      if (!isOutdated(error)) throw error;
    }
  }
  return [write, await client.send(write, signal)];
}

const cachesOf = <T extends Obj>({ caches }: WriterPorts, { kind }: Write<T>): Cache<Obj>[] =>
  [...caches.all()].filter((cache) => isSameKind(cache.kind, kind));

/** A delete that waits for finalizers returns the object; any other delete returns a Status. */
const isStillThere = (answer: Obj): boolean => answer.metadata?.deletionTimestamp !== undefined;

/** Undefined for a create whose name the server generates. */
function keyOfWrite(write: Write): Key | undefined {
  if ('key' in write) return write.key;
  const { namespace, name } = write.object.metadata;
  return name ? joinKey(namespace, name) : undefined;
}

const openTickets = (
  { name }: WriterPorts,
  caches: readonly Cache<Obj>[],
  key: Key,
  echo: Write['echo'],
): WriteTicket<Obj>[] => caches.map((cache) => cache.begin(key, name, echo));

/** Whether the returned version is certainly ours, and not that of another writer. */
function isConditional(write: Write): boolean {
  if (write.lock === true) return true;
  switch (write.verb) {
    case 'create':
      return true;
    case 'replace':
    case 'apply':
      return write.object.metadata.resourceVersion !== undefined;
    case 'merge':
    case 'strategic':
      return hasVersion(write.body);
    default:
      return false;
  }
}

/** A write that changed nothing returns the version that it was based on, which may be another writer's. */
const isUnchanged = (write: Write, answer: Obj): boolean => {
  const sent =
    'object' in write
      ? write.object.metadata.resourceVersion
      : 'body' in write
        ? (write.body as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion
        : undefined;
  return sent !== undefined && sent === answer.metadata.resourceVersion;
};

const hasVersion = (body: { readonly metadata?: { readonly resourceVersion?: string } }): boolean =>
  body.metadata?.resourceVersion !== undefined;
