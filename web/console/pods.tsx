/** The pods of objects on targets: states, events and logs. The address names object, pod and container. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ContainerRow, Part, PodList, PodRow } from '../../src/cli/console/wire.ts';
import { landscapeUrl, withQuery } from './addresses.ts';
import { landscapePath } from './api.ts';
import { EventTable } from './events.tsx';
import { counted, sinceText } from './format.ts';
import { useLoaded } from './load.ts';
import { Log } from './log.tsx';
import { useNow } from './now.ts';
import { Link, Note } from './parts.tsx';

interface PodsProps {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly parts: ReadonlyMap<string, Part>;
}

export function Pods({ id, query, parts }: PodsProps) {
  const workloads = useMemo(() => [...parts.values()].filter(({ hasPods }) => hasPods === true), [parts]);
  const wanted = query.get('part') ?? '';
  const chosen = wanted === '' ? workloads[0] : workloads.find((part) => part.id === wanted);
  if (workloads.length === 0)
    return <Note>No deploy item of this landscape lists a pod, or an object that creates pods.</Note>;
  return (
    <div class="pods">
      <nav class="workloads" aria-label="Objects with pods">
        {workloads.map((part) => (
          <Link key={part.id} href={landscapeUrl(id, 'pods', { part: part.id })} current={part === chosen}>
            {part.title} <span class="kind">{part.namespace}</span>
          </Link>
        ))}
      </nav>
      {chosen ? (
        <PodsOf key={chosen.id} id={id} part={chosen} query={query} />
      ) : (
        <Note>The landscape no longer has this object.</Note>
      )}
    </div>
  );
}

/** Changes of pods cause no events here, so they are read again after this time. */
const PERIOD_MS = 5_000;

/** A number that grows regularly. */
function useTicks(): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((before) => before + 1), PERIOD_MS);
    return () => clearInterval(timer);
  }, []);
  return ticks;
}

interface PodsOfProps {
  readonly id: string;
  readonly part: Part;
  readonly query: URLSearchParams;
}

function PodsOf({ id, part, query }: PodsOfProps) {
  const path = withQuery(`${landscapePath(id)}/pods`, { part: part.id });
  const { data, error } = useLoaded<PodList>(path, useTicks());
  const now = useNow();
  if (!data) return <Note>{error || `Loading the pods of ${part.title} …`}</Note>;
  const urlOf = (pod: string, container: string, previous = ''): string =>
    landscapeUrl(id, 'pods', { part: part.id, pod, container, previous });
  const [pod, container] = [query.get('pod') ?? '', query.get('container') ?? ''];
  const row = data.pods.find(({ name }) => name === pod)?.containers.find(({ name }) => name === container);
  const isPrevious = query.get('previous') !== null;
  return (
    <div class="column">
      {error !== '' && <p class="failed">{error}</p>}
      {data.pods.length === 0 ? (
        <p class="dim">{part.title} has no pods.</p>
      ) : (
        <PodTable
          title={part.title}
          pods={data.pods}
          now={now}
          urlOf={urlOf}
          chosen={`${pod}/${container}`}
        />
      )}
      {data.omitted > 0 && <p class="foot">{counted(data.omitted, 'further pod')} not shown</p>}
      {pod !== '' && container !== '' && (
        <Log
          key={`${pod}/${container}/${String(isPrevious)}`}
          path={withQuery(`${landscapePath(id)}/log`, { part: part.id, pod, container })}
          title={`${pod} · ${container}`}
          isPrevious={isPrevious}
          otherUrl={
            isPrevious ? urlOf(pod, container) : row && row.restarts > 0 ? urlOf(pod, container, 'true') : ''
          }
          closeUrl={landscapeUrl(id, 'pods', { part: part.id })}
        />
      )}
      <PodEventTable list={data} />
    </div>
  );
}

interface PodTableProps {
  readonly title: string;
  readonly pods: readonly PodRow[];
  readonly now: number;
  readonly urlOf: (pod: string, container: string) => string;
  /** Pod and container whose log is shown. */
  readonly chosen: string;
}

function PodTable({ title, pods, now, urlOf, chosen }: PodTableProps) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={`Pods of ${title}`}>
      <table>
        <caption class="hidden">Pods of {title}, those with problems first</caption>
        <thead>
          <tr>
            {['Pod', 'Status', 'Ready', 'Restarts', 'Age', 'Containers', 'Message'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pods.map((pod) => (
            <tr key={pod.name}>
              <td title={pod.node && `on node ${pod.node}`}>{pod.name}</td>
              <td class={pod.isHealthy ? 'succeeded' : 'failed'}>{pod.status}</td>
              <td>{pod.ready}</td>
              <td>{pod.restarts}</td>
              <td class="dim">{sinceText(pod.createdAt, now)}</td>
              <td>
                {pod.containers.map((container) => (
                  <Container
                    key={container.name}
                    row={container}
                    url={urlOf(pod.name, container.name)}
                    isChosen={chosen === `${pod.name}/${container.name}`}
                  />
                ))}
              </td>
              <td>{pod.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ContainerProps {
  readonly row: ContainerRow;
  readonly url: string;
  readonly isChosen: boolean;
}

function Container({ row, url, isChosen }: ContainerProps) {
  const kind = row.type === 'container' ? '' : `${row.type} container, `;
  const state = [row.reason || row.state, row.lastEnd && `before: ${row.lastEnd}`].filter(Boolean).join(', ');
  return (
    <div class="container">
      {row.hasStarted ? (
        <Link href={url} current={isChosen}>
          {row.name}
          <span class="hidden">, log</span>
        </Link>
      ) : (
        row.name
      )}{' '}
      <span class="dim">
        {kind}
        {state}
      </span>
    </div>
  );
}

function PodEventTable({ list }: { readonly list: PodList }) {
  if (list.eventsProblem !== '') return <p class="dim">Events are not shown: {list.eventsProblem}</p>;
  if (list.events.length === 0) return <p class="dim">There are no events of these objects.</p>;
  return (
    <EventTable
      label="Events of the pods"
      events={list.events}
      objectOf={({ object }) => object}
      foot={list.hasAllEvents ? '' : 'Older events are not shown.'}
    />
  );
}
