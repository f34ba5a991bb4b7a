/** The events of all objects of a landscape, the latest first. */
import type { ComponentChildren } from 'preact';
import type { EventList, EventRow } from '../../src/cli/console/wire.ts';
import { landscapeUrl } from './addresses.ts';
import { landscapePath } from './api.ts';
import { counted, sinceText } from './format.ts';
import { useLoaded } from './load.ts';
import { useNow } from './now.ts';
import { Link, Note } from './parts.tsx';

interface EventsProps {
  readonly id: string;
  /** Changes when there may be other events. */
  readonly version: unknown;
}

export function Events({ id, version }: EventsProps) {
  const { data, error } = useLoaded<EventList>(`${landscapePath(id)}/events`, version);
  if (error !== '' && !data) return <Note>{error}</Note>;
  if (!data) return <Note>Loading …</Note>;
  if (data.events.length === 0)
    return <Note>There are no events; API servers keep them for an hour by default.</Note>;
  return (
    <EventTable
      label="Events"
      events={data.events}
      objectOf={({ part, object }) => <Link href={landscapeUrl(id, 'tree', { part })}>{object}</Link>}
      foot={`${counted(data.events.length, 'event')}${data.isComplete ? '' : '; older ones are not shown'}`}
    />
  );
}

interface EventTableProps {
  /** For assistive technology. */
  readonly label: string;
  readonly events: readonly EventRow[];
  /** The object of an event as the page shows it. */
  readonly objectOf: (event: EventRow) => ComponentChildren;
  /** Below the table; empty: nothing. */
  readonly foot: string;
}

/** Events, the latest first. */
export function EventTable({ label, events, objectOf, foot }: EventTableProps) {
  const now = useNow();
  return (
    <div class="events">
      <div class="table-box" tabIndex={0} role="region" aria-label={label}>
        <table>
          <caption class="hidden">Events, the latest first</caption>
          <thead>
            <tr>
              {['Last seen', 'Type', 'Object', 'Reason', 'Message'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {events.map((event, i) => (
              <tr key={i}>
                <td class="dim">{sinceText(event.time, now)}</td>
                <td class={event.type === 'Warning' ? 'failed' : 'dim'}>{event.type}</td>
                <td>{objectOf(event)}</td>
                <td>{event.reason}</td>
                <td>
                  {event.message}
                  {event.count > 1 && <span class="dim"> ({event.count} times)</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {foot !== '' && <p class="foot">{foot}</p>}
    </div>
  );
}
