/** The jobs of a landscape, and a timeline of one of them. */
import type { JobList, JobSummary, Timeline, TimelineRow } from '../../src/cli/console/wire.ts';
import { landscapePath } from './api.ts';
import { barsOf, isExplained } from './bars.ts';
import { durationText, jobDuration, timeText } from './format.ts';
import { useNow } from './now.ts';
import { useLoaded } from './load.ts';
import { Link, Note } from './parts.tsx';
import { landscapeUrl } from './addresses.ts';

interface JobsProps {
  readonly id: string;
  /** Number of the job to show; empty: the latest. */
  readonly job: string;
  /** Changes when the jobs may have changed. */
  readonly version: unknown;
}

export function Jobs({ id, job, version }: JobsProps) {
  const { data, error } = useLoaded<JobList>(`${landscapePath(id)}/jobs`, version);
  const now = useNow();
  if (error !== '' && !data) return <Note>{error}</Note>;
  if (!data) return <Note>Loading …</Note>;
  const [latest] = data.jobs;
  if (!latest) return <Note>{data.problem || 'No job of this landscape is recorded yet.'}</Note>;
  const chosen = job === '' ? String(latest.number) : job;
  return (
    <div class="jobs">
      {data.problem !== '' && <p class="foot">{data.problem}</p>}
      <div class="table-box">
        <table>
          <caption class="hidden">Jobs, the latest first</caption>
          <thead>
            <tr>
              {['Job', 'Result', 'Took', 'Started', 'Reason', 'Changes'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.jobs.map((each) => (
              <JobRow
                key={each.jobID}
                id={id}
                job={each}
                isChosen={String(each.number) === chosen}
                now={now}
              />
            ))}
          </tbody>
        </table>
      </div>
      <TimelineView id={id} job={chosen} version={version} now={now} />
    </div>
  );
}

interface JobRowProps {
  readonly id: string;
  readonly job: JobSummary;
  readonly isChosen: boolean;
  readonly now: number;
}

const classOf = (result: string): string =>
  result === 'Succeeded' ? 'succeeded' : result.endsWith('Failed') ? 'failed' : 'running';

function JobRow({ id, job, isChosen, now }: JobRowProps) {
  return (
    <tr class={isChosen ? 'active' : ''}>
      <td>
        <Link href={landscapeUrl(id, 'jobs', { job: String(job.number) })} current={isChosen}>
          {job.number}
        </Link>
      </td>
      <td class={classOf(job.result)}>{job.result}</td>
      <td class="dim">{jobDuration(times(job), now)}</td>
      <td class="dim">{job.triggeredAt === undefined ? '' : timeText(job.triggeredAt)}</td>
      <td>{job.reason}</td>
      <td class="dim">{job.changes}</td>
    </tr>
  );
}

const times = ({ triggeredAt, endedAt }: Pick<TimelineRow, 'triggeredAt' | 'endedAt'>) => ({
  ...(triggeredAt !== undefined && { startedAt: triggeredAt }),
  ...(endedAt !== undefined && { endedAt }),
});

interface TimelineProps {
  readonly id: string;
  readonly job: string;
  readonly version: unknown;
  readonly now: number;
}

function TimelineView({ id, job, version, now }: TimelineProps) {
  const { data, error } = useLoaded<Timeline>(
    `${landscapePath(id)}/jobs/${encodeURIComponent(job)}`,
    version,
  );
  if (!data) return <Note>{error || 'Loading …'}</Note>;
  const start = data.triggeredAt ?? now;
  const end = Math.max(data.endedAt ?? now, start + 1000);
  return (
    <section aria-label={`Timeline of job ${data.number}`} class="timeline">
      <h2>
        Job {data.number}
        <span class="dim">
          {' '}
          · {durationText(end - start)} · <span class="bar working legend" /> working{' '}
          <span class="bar waiting legend" /> waiting for others
        </span>
      </h2>
      <ol>
        {data.rows.map((row, i) => (
          <TimelineLine
            key={i}
            row={row}
            error={isExplained(data.rows, i) ? '' : row.error}
            start={start}
            end={end}
            now={data.endedAt ?? now}
          />
        ))}
      </ol>
    </section>
  );
}

interface LineProps {
  readonly row: TimelineRow;
  readonly error: string;
  readonly start: number;
  readonly end: number;
  readonly now: number;
}

function TimelineLine({ row, error, start, end, now }: LineProps) {
  const waited = row.waitedFor.length > 0 ? `waited for ${row.waitedFor.join(', ')}` : '';
  return (
    <li title={waited}>
      <span class="label" style={{ paddingLeft: `${row.depth * 16}px` }}>
        {row.title} <span class="kind">{row.kind}</span>
      </span>
      <span class="track" aria-hidden="true">
        {barsOf(row, { start, end }).map(({ kind, left, width }) => (
          <span
            key={kind}
            class={`bar ${kind} ${classOf(row.phase)}`}
            style={{ left: `${left}%`, width: `${width}%` }}
          />
        ))}
      </span>
      <span class="dim number">{jobDuration(times(row), now)}</span>
      <span class={classOf(row.phase)}>{row.phase}</span>
      {waited !== '' && <span class="hidden">{waited}</span>}
      {error !== '' && <p class="failed">{error}</p>}
    </li>
  );
}
