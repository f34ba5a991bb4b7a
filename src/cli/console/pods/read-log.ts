/** Reads the end of the log of a container, and then new lines. */
import { Pod } from '../../../runtime/core-kinds.ts';
import { pathOf } from '../../../runtime/transport/path.ts';
import type { Client } from '../../../runtime/types.ts';
import { stampedLine, wholeSeconds, type StampedLine } from '../../commands/logs/pods.ts';
import { Refused } from '../access.ts';
import type { LogLines } from '../wire.ts';
import { isPodOf, type Workload } from './workloads.ts';

/** Which log, and from where. */
interface LogQuery {
  readonly pod: string;
  readonly container: string;
  /** Of the container before its last restart. */
  readonly isPrevious: boolean;
  /** Only lines after this stamp; undefined: the last lines. */
  readonly after: string | undefined;
}

const LAST_LINES = 500;
export const MAX_LOG_BYTES = 256 * 1024;

/**
 * @param client for the cluster of the object
 * @throws Refused if the pod does not belong to the object; the errors of runtime/errors.ts
 */
export async function logOf(
  client: Client,
  workload: Workload,
  query: LogQuery,
  signal: AbortSignal,
): Promise<LogLines> {
  const { namespace, kind, name } = workload;
  const key = `${namespace}/${query.pod}`;
  if (!isPodOf(workload, await client.get(Pod, key, signal)))
    throw new Refused(404, `pod ${key} does not belong to ${kind} ${name}`);
  const read = async (from: LogQuery): Promise<LogLines> => {
    const path = `${pathOf(Pod, key, 'log')}?${parametersOf(from).toString()}`;
    const text = await client.raw('GET', path, undefined, signal);
    return linesIn(typeof text === 'string' ? text : '', query.after ?? '');
  };
  const found = await read(query);
  if (!found.isCut || found.lines.length > 0 || query.after === undefined) return found;
  // More than the limit was logged in the second of the stamp, so a request from there never gets further.
  return { ...(await read({ ...query, after: undefined })), hasGap: true };
}

function parametersOf({ container, isPrevious, after }: LogQuery): URLSearchParams {
  return new URLSearchParams({
    container,
    timestamps: 'true',
    limitBytes: String(MAX_LOG_BYTES),
    ...(isPrevious && { previous: 'true' }),
    ...(after === undefined ? { tailLines: String(LAST_LINES) } : { sinceTime: wholeSeconds(after) }),
  });
}

/**
 * The lines after a stamp. If the answer ends at the limit, its last line is incomplete and left out: the next request
 * returns it. A line that is longer than the limit is cut.
 */
export function linesIn(text: string, after: string): LogLines {
  const isCut = Buffer.byteLength(text) >= MAX_LOG_BYTES;
  const all = text.split('\n');
  if (all.at(-1) === '' || (isCut && all.length > 1)) all.pop();
  // A request has whole seconds, so the first lines are known already.
  const lines = all.map(stampedLine).filter(({ stamp }) => after === '' || stamp > after);
  return {
    lines: lines.map(({ text: line }) => line),
    last: lastStamp(lines) ?? after,
    isCut,
    hasGap: false,
  };
}

const lastStamp = (lines: readonly StampedLine[]): string | undefined =>
  lines.findLast(({ stamp }) => stamp !== '')?.stamp;
