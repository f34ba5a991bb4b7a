/** Sends writes in a controller's name: checks the fence first, and notifies the caches before and after. */
import { isSameKind, joinKey, keyOf } from '../keys.ts';
import type { Caches, Client, Key, Obj, Write, Writer, WriteTicket } from '../types.ts';

/** Throws if this process must not write, because it lost its leadership or is stopping. */
export type Fence = () => void;

interface WriterPorts {
  readonly client: Client;
  readonly caches: Caches;
  readonly fence: Fence;
  /** The name by which caches recognise own writes. */
  readonly name: string;
}

/** @param life its signal is used by writes without a signal */
export function createWriter(ports: WriterPorts, life?: { readonly signal: AbortSignal }): Writer {
  return async <T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T> => {
    ports.fence();
    const key = keyOfWrite(write);
    const tickets = key === undefined ? [] : openTickets(ports, write, key);
    let answer: T;
    try {
      answer = await ports.client.send(write, signal ?? life?.signal);
    } catch (error) {
      for (const ticket of tickets) ticket.failed();
      throw error;
    }
    if (write.verb === 'delete' && !isStillThere(answer)) {
      for (const ticket of tickets) ticket.failed();
      return answer;
    }
    // A generated name is known only now; the caches must still contain the object for the next read.
    const late = key === undefined ? openTickets(ports, write, keyOf(answer)) : [];
    const isOurs = isConditional(write) && !isUnchanged(write, answer);
    for (const ticket of [...tickets, ...late]) ticket.done(answer, isOurs);
    return answer;
  };
}

/** A delete that waits for finalizers returns the object; any other delete returns a Status. */
const isStillThere = (answer: Obj): boolean => answer.metadata?.deletionTimestamp !== undefined;

/** Undefined for a create whose name the server generates. */
function keyOfWrite(write: Write): Key | undefined {
  if ('key' in write) return write.key;
  const { namespace, name } = write.object.metadata;
  return name ? joinKey(namespace, name) : undefined;
}

function openTickets<T extends Obj>(ports: WriterPorts, write: Write<T>, key: Key): WriteTicket<T>[] {
  const tickets: WriteTicket<T>[] = [];
  for (const cache of ports.caches.all()) {
    if (isSameKind(cache.kind, write.kind)) {
      tickets.push(cache.begin(key, ports.name));
    }
  }
  return tickets;
}

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
