/** The events of all objects of a landscape, the latest first. */
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
  const now = useNow();
  if (error !== '' && !data) return <Note>{error}</Note>;
  if (!data) return <Note>Loading …</Note>;
  if (data.events.length === 0)
    return <Note>There are no events; API servers keep them for an hour by default.</Note>;
  return (
    <div class="events">
      <div class="table-box" tabIndex={0} role="region" aria-label="Events">
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
            {data.events.map((event, i) => (
              <Row key={i} id={id} event={event} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="foot">
        {counted(data.events.length, 'event')}
        {data.isComplete ? '' : '; older ones are not shown'}
      </p>
    </div>
  );
}

function Row({ id, event, now }: { readonly id: string; readonly event: EventRow; readonly now: number }) {
  return (
    <tr>
      <td class="dim">{sinceText(event.time, now)}</td>
      <td class={event.type === 'Warning' ? 'failed' : 'dim'}>{event.type}</td>
      <td>
        <Link href={landscapeUrl(id, 'tree', { part: event.part })}>{event.object}</Link>
      </td>
      <td>{event.reason}</td>
      <td>
        {event.message}
        {event.count > 1 && <span class="dim"> ({event.count} times)</span>}
      </td>
    </tr>
  );
}
