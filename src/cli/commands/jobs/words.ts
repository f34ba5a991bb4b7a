/** How records of jobs are described in words. Pure. */
import { table } from '../../../lib/objects.ts';
import type { JobRequest, JobRecordSpec } from '../../../api/kinds/jobrecord.ts';
import type { View } from '../../../runtime/types.ts';

const reasons: Readonly<Record<string, (request: View<JobRequest>) => string>> = table({
  Requested: ({ manager }) => (manager ? manager : 'annotation'),
  Retry: ({ manager }) => `retry${manager ? ` by ${manager}` : ''}`,
  Predecessor: ({ predecessor = '' }) => `end of ${predecessor}`,
  Schedule: ({ attempt }) => `schedule${attempt ? `, no. ${String(attempt)}` : ''}`,
  RetryAfterFailure: ({ attempt }) => `retry after failure${attempt ? `, no. ${String(attempt)}` : ''}`,
  SpecChanged: () => 'changed spec',
  Deletion: () => 'deletion',
});

export const requestWords = (request: View<JobRequest>): string =>
  reasons[request.reason]?.(request) ?? 'unknown';

/** `2s`, `3m20s`; the times have whole seconds. */
export function tookWords(from: string | undefined, to: string | undefined, now: number): string {
  const start = Date.parse(from ?? '');
  const end = to === undefined ? now : Date.parse(to);
  if (Number.isNaN(start) || Number.isNaN(end)) return '';
  const seconds = Math.max(0, Math.round((end - start) / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${String(hours)}h${String(minutes)}m`;
  return minutes > 0 ? `${String(minutes)}m${String(seconds % 60)}s` : `${String(seconds)}s`;
}

export const timeWords = (time: string | undefined): string =>
  (time ?? '').replace('T', ' ').replace(/Z$/, '');

/** What changed; `?` if the record does not tell. */
export const changesWords = ({ changes, number, result }: View<JobRecordSpec>): string =>
  changes?.join(', ') ?? (result === 'Running' ? '' : number === 1 ? 'first job' : '-');

export const blueprintWords = ({ blueprint }: View<JobRecordSpec>): string => {
  if (!blueprint) return 'not recorded';
  const { digest, component, version, resource } = blueprint;
  if (digest !== undefined) return `inline, ${digest.slice(0, 19)}`;
  return [resource, ...(component ? [`of ${component} ${version ?? ''}`] : [])].filter(Boolean).join(' ');
};
