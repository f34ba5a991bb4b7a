/** Selects, sorts and prints the events of all objects of a tree. Pure. */
import type { Kind, Obj, View } from '../../runtime/types.ts';
import { columns } from '../terminal/columns.ts';
import type { Node } from './tree.ts';

/** An event of the core API, by any client: old ones have times and a count, new ones an event time and a series. */
export interface TreeEvent extends Obj {
  readonly involvedObject: { readonly kind?: string; readonly name?: string; readonly uid?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly reportingComponent?: string;
  readonly source?: { readonly component?: string };
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null;
}

export const eventKind: Kind<TreeEvent> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

/** The events of the objects of the tree, oldest first. Events of deleted objects with the same names are not included. */
export function eventsOfTree<T extends View<TreeEvent>>(root: Node, events: readonly T[]): readonly T[] {
  const uids = new Set(uidsIn(root));
  return events
    .filter(({ involvedObject: { uid } }) => uid !== undefined && uids.has(uid))
    .sort(compareByTime);
}

/** The oldest first. */
export const compareByTime = (a: View<TreeEvent>, b: View<TreeEvent>): number =>
  compare(timeOf(a), timeOf(b)) || compare(a.metadata.name, b.metadata.name);

const uidsIn = (node: Node): readonly string[] => [
  ...(node.object.metadata.uid === undefined ? [] : [node.object.metadata.uid]),
  ...node.children.flatMap(uidsIn),
];

/** RFC 3339; when it happened last. */
export const timeOf = (event: View<TreeEvent>): string =>
  event.series?.lastObservedTime ??
  event.lastTimestamp ??
  event.eventTime ??
  event.firstTimestamp ??
  event.metadata.creationTimestamp ??
  '';

/**
 * One line per event: time, type, object, reason, message, and how often it happened.
 * @param isWide also when it happened first, and which program reported it
 */
export const eventLines = (events: readonly View<TreeEvent>[], isWide = false): readonly string[] =>
  columns(
    events.map((event) => [
      ...(isWide ? [inSeconds(firstTimeOf(event))] : []),
      inSeconds(timeOf(event)),
      event.type ?? '',
      `${event.involvedObject.kind ?? ''}/${event.involvedObject.name ?? ''}`,
      event.reason ?? '',
      ...(isWide ? [event.reportingComponent || (event.source?.component ?? '')] : []),
      `${(event.message ?? '').replaceAll(/\s+/g, ' ').trim()}${countText(event)}`,
    ]),
  );

const inSeconds = (time: string): string => time.replace(/\.\d+Z$/, 'Z');

const firstTimeOf = (event: View<TreeEvent>): string =>
  event.firstTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? timeOf(event);

/** How often it happened. */
export const countOf = ({ count, series }: View<TreeEvent>): number => series?.count ?? count ?? 1;

function countText(event: View<TreeEvent>): string {
  const times = countOf(event);
  return times > 1 ? ` (${String(times)} times)` : '';
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
