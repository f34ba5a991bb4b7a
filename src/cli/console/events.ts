/** Events of the objects of a landscape, read with the rights of the viewer. */
import { append } from '../../lib/lists.ts';
import type { Client, View } from '../../runtime/types.ts';
import { countOf, eventKind, eventsOfTree, timeOf, type TreeEvent } from '../tree/events.ts';
import type { Node } from '../tree/tree.ts';
import { idOf } from './why.ts';
import type { EventList, EventRow } from './wire.ts';

/** A namespace may have many more; reading them all would take too long. */
const MAX_READ = 10_000;
const MAX_SHOWN = 500;

/** The latest first. @throws the errors of runtime/errors.ts */
export async function eventsOf(client: Client, root: Node): Promise<EventList> {
  const { events, isComplete } = await readEvents(client, root.namespace);
  const found = eventsOfTree(root, events).toReversed();
  return {
    events: found.slice(0, MAX_SHOWN).map(eventRowOf),
    isComplete: isComplete && found.length <= MAX_SHOWN,
  };
}

interface ReadEvents {
  readonly events: readonly TreeEvent[];
  /** Whether the namespace has no others. */
  readonly isComplete: boolean;
}

/** The events of a namespace, up to a limit. @throws the errors of runtime/errors.ts */
export async function readEvents(
  client: Client,
  namespace: string,
  signal?: AbortSignal,
): Promise<ReadEvents> {
  const events: TreeEvent[] = [];
  for await (const page of client.list(eventKind, { namespace }, signal)) {
    append(events, page.items);
    if (events.length >= MAX_READ) return { events, isComplete: false };
  }
  return { events, isComplete: true };
}

export function eventRowOf(event: View<TreeEvent>): EventRow {
  const { kind = '', name = '' } = event.involvedObject;
  const time = Date.parse(timeOf(event));
  return {
    part: idOf({ kind: kind as Node['kind'], namespace: event.metadata.namespace ?? '', name }),
    object: `${kind} ${name}`,
    type: event.type ?? '',
    reason: event.reason ?? '',
    message: event.message ?? '',
    count: countOf(event),
    ...(!Number.isNaN(time) && { time }),
  };
}
