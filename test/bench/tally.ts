/** Counts requests of the controllers and the deployers in an audit log. */
import type { Request } from './servers.ts';

export interface Tally {
  readonly writes: number;
  readonly events: number;
  readonly reads: number;
  /** Writes and events by verb and resource, as in `patch installations/status`. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Size of the bodies of all writes and events, and of the answers; 0 if the log does not contain sizes. */
  readonly bodyBytes: number;
  readonly answerBytes: number;
}

const READS: readonly string[] = ['get', 'list'];
const WRITES: readonly string[] = ['create', 'update', 'patch', 'delete', 'deletecollection'];

export function tally(requests: readonly Request[]): Tally {
  const ours = requests.filter(
    ({ stage, userAgent }) => stage === 'ResponseComplete' && userAgent?.startsWith('espalier'),
  );
  const kinds: Record<string, number> = {};
  let [writes, events, reads, sent, stored] = [0, 0, 0, 0, 0];
  for (const { verb, objectRef: { resource = '', subresource } = {}, bodyBytes, answerBytes } of ours) {
    if (READS.includes(verb)) reads++;
    if (!WRITES.includes(verb)) continue;
    if (resource === 'events') events++;
    else writes++;
    const key = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
    kinds[key] = (kinds[key] ?? 0) + 1;
    sent += bodyBytes ?? 0;
    stored += answerBytes ?? 0;
  }
  return { writes, events, reads, kinds, bodyBytes: sent, answerBytes: stored };
}
