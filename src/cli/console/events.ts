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
  const read: TreeEvent[] = [];
  let isComplete = true;
  for await (const page of client.list(eventKind, { namespace: root.namespace })) {
    append(read, page.items);
    isComplete = read.length < MAX_READ;
    if (!isComplete) break;
  }
  const found = eventsOfTree(root, read).toReversed();
  return {
    events: found.slice(0, MAX_SHOWN).map(rowOf),
    isComplete: isComplete && found.length <= MAX_SHOWN,
  };
}

function rowOf(event: View<TreeEvent>): EventRow {
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
