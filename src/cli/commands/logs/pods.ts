/** The logs of the product's pods, from the API server. */
import { append } from '../../../lib/lists.ts';
import { ApiError, Forbidden, TransportError } from '../../../runtime/errors.ts';
import { pathOf } from '../../../runtime/transport/path.ts';
import type { Obj } from '../../../runtime/types.ts';
import type { Cluster } from '../../cluster.ts';
import { CommandError } from '../../errors.ts';
import { podKind } from '../install/kinds.ts';
import { linesOf } from './lines.ts';

/** Where the pods are. */
interface PodSelection {
  readonly namespace: string;
  /** Label selector. */
  readonly labels: string;
}

/** Pod and container whose log is read. */
export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** @throws CommandError if there are no pods, or the user may not list them */
export async function sourcesIn(
  { client }: Pick<Cluster, 'client'>,
  { namespace, labels }: PodSelection,
): Promise<readonly LogSource[]> {
  const pods: Obj[] = [];
  try {
    for await (const page of client.list(podKind, { namespace, labels })) append(pods, page.items);
  } catch (error) {
    throw error instanceof Forbidden ? notPermitted(namespace, 'list pods', error) : error;
  }
  if (pods.length === 0)
    throw new CommandError(
      `there are no pods with the labels ${labels} in namespace ${namespace}; choose another namespace with ` +
        '--system-namespace; if the controllers run outside the cluster, pass their log with --file',
    );
  return pods.map((pod) => ({ namespace, pod: pod.metadata.name, container: containerOf(pod) }));
}

function containerOf({ metadata, spec }: Obj & { readonly spec?: unknown }): string {
  const { containers = [] } = (spec ?? {}) as { readonly containers?: readonly { readonly name: string }[] };
  return metadata.annotations?.[DEFAULT_CONTAINER] ?? containers[0]?.name ?? '';
}

const notPermitted = (namespace: string, action: string, cause: Error): CommandError =>
  new CommandError(
    `you may not ${action} in namespace ${namespace}: reading the logs needs the verb list on pods and the verb get on ` +
      'pods/log there; request these permissions, or choose another --context',
    { cause },
  );

/** A line, and when the container runtime received it (RFC 3339 with nanoseconds); empty if it has no stamp. */
export interface StampedLine {
  readonly stamp: string;
  readonly text: string;
}

interface ReadOptions {
  readonly sinceSeconds?: number | undefined;
  /** Only lines after this stamp. */
  readonly after?: string | undefined;
  /** Also reads new lines, until it aborts. */
  readonly follow?: AbortSignal | undefined;
}

/** @throws CommandError if the user may not read logs; other errors of the connection */
export async function* readLog(
  { stream }: Pick<Cluster, 'stream'>,
  { namespace, pod, container }: LogSource,
  { sinceSeconds, after = '', follow }: ReadOptions,
): AsyncGenerator<StampedLine> {
  const query = new URLSearchParams({ container, timestamps: 'true' });
  if (follow) query.set('follow', 'true');
  if (after !== '') query.set('sinceTime', wholeSeconds(after));
  else if (sinceSeconds !== undefined) query.set('sinceSeconds', String(sinceSeconds));
  try {
    const parts = await stream({
      method: 'GET',
      path: `${pathOf(podKind, `${namespace}/${pod}`, 'log')}?${query.toString()}`,
      ref: { verb: 'get', kind: 'Pod', namespace, name: pod, sub: 'log' },
      accept: 'application/json, */*',
      ...(follow && { signal: follow }),
    });
    for await (const line of linesOf(parts)) {
      const stamped = stampedLine(line);
      // The API cuts the time to seconds, so the first lines are known already.
      if (stamped.stamp === '' || stamped.stamp > after) yield stamped;
    }
  } catch (error) {
    throw error instanceof Forbidden ? notPermitted(namespace, 'read logs of pods', error) : error;
  }
}

/** Whether the logs of other pods may still be readable. */
export const isAboutOnePod = (error: unknown): error is Error =>
  error instanceof ApiError || error instanceof TransportError;

const STAMPED = /^(\d{4}-\d\d-\d\dT\S+) (.*)$/s;

/** A kubelet that cannot read the log says so in a line without a stamp. */
export function stampedLine(line: string): StampedLine {
  const [, stamp = '', text = line] = STAMPED.exec(line) ?? [];
  return { stamp, text };
}

/** Without the fraction, which the API ignores. */
export const wholeSeconds = (stamp: string): string => `${new Date(stamp).toISOString().slice(0, 19)}Z`;
