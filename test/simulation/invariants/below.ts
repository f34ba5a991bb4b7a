/** Which objects are below which, as stored on the server. */
import { labels } from '../../../src/api/labels.ts';
import {
  kinds,
  ownerUid,
  type Exec,
  type Inst,
  type Item,
  type JobObject,
  type Stored,
} from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';

export function below(server: Server, parent: Stored): JobObject[] {
  const { uid } = parent.metadata;
  const owned = (object: Stored): boolean => ownerUid(object) === uid;
  if (parent.kind === 'Installation') {
    return [
      ...(server.list(kinds.installation).filter(owned) as unknown as Inst[]),
      ...(server.list(kinds.execution).filter(owned) as unknown as Exec[]),
    ];
  }
  return parent.kind === 'Execution' ? (server.list(kinds.item).filter(owned) as unknown as Item[]) : [];
}

export const above = (server: Server, object: Stored): JobObject | undefined => {
  const uid = ownerUid(object);
  if (uid === undefined) return undefined;
  const all = [...server.list(kinds.installation), ...server.list(kinds.execution)];
  return all.find((other) => other.metadata.uid === uid) as unknown as JobObject | undefined;
};

export const itemsOf = (server: Server, execution: Stored): Item[] => below(server, execution) as Item[];

export const templateOf = (item: Item): string => item.metadata.labels?.[labels.executionName] ?? '';
