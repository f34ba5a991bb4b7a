/** Sends writes under a controller's name: the fence in front, the caches told before and after. */
import { isSameKind, joinKey, keyOf } from '../keys.ts';
import type { Caches, Client, Key, Obj, Write, Writer, WriteTicket } from '../types.ts';

/** Throws when this process must not write: it lost its leadership, or it is stopping. */
export type Fence = () => void;

interface WriterPorts {
  readonly client: Client;
  readonly caches: Caches;
  readonly fence: Fence;
  /** The name under which the caches recognise the write as own. */
  readonly name: string;
}

/** @param life whose signal is used by writes that bring none of their own */
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
    // A generated name is known only now; the caches still have to hold the object for the next read.
    const late = key === undefined ? openTickets(ports, write, keyOf(answer)) : [];
    const isOurs = isConditional(write) && !isUnchanged(write, answer);
    for (const ticket of [...tickets, ...late]) ticket.done(answer, isOurs);
    return answer;
  };
}

/** A delete that has to wait for finalizers answers with the object; any other one with a Status. */
const isStillThere = (answer: Obj): boolean => answer.metadata?.deletionTimestamp !== undefined;

/** Undefined for a create that leaves the name to the server. */
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

/** Whether the version answered is certain to be ours: nobody else's write can have been answered instead. */
function isConditional(write: Write): boolean {
  if (write.lock === true) return true;
  switch (write.verb) {
    case 'create':
      return true;
    case 'replace':
    case 'apply':
      return write.object.metadata.resourceVersion !== undefined;
    case 'merge':
      return hasVersion(write.body);
    default:
      return false;
  }
}

/** A write that changed nothing is answered with the version it was made for, which is somebody else's. */
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
