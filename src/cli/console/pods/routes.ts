/** Pods of objects on targets, their events and logs. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Unauthorized } from '../../../runtime/errors.ts';
import type { Client, Kind } from '../../../runtime/types.ts';
import { Refused } from '../access.ts';
import { objectIn } from '../items.ts';
import { LANDSCAPE, rootOf, viewerOf, type Landscape } from '../routes.ts';
import type { LogLines, PodList } from '../wire.ts';
import { clusterOf } from './object-cluster.ts';
import { logOf } from './read-log.ts';
import { podsOf } from './read-pods.ts';
import { workloadKind, type Workload } from './workloads.ts';

const TIMEOUT_MS = 15_000;

const text = { type: 'string', minLength: 1, maxLength: 2000 };
/** RFC 3339 with up to nanoseconds. */
const stamp = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$',
};

const query = (
  required: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
) => ({
  schema: {
    querystring: {
      type: 'object',
      properties: { ...required, ...optional },
      required: Object.keys(required),
    },
  },
});

interface PodsRoute extends Landscape {
  readonly Querystring: { readonly part: string };
}

interface LogRoute extends Landscape {
  readonly Querystring: {
    readonly part: string;
    readonly pod: string;
    readonly container: string;
    readonly previous?: boolean;
    readonly after?: string;
  };
}

export function addPods(server: FastifyInstance): void {
  server.get<PodsRoute>(`${LANDSCAPE}/pods`, query({ part: text }), (request) =>
    inCluster(request, ({ client, kind, workload, signal }): Promise<PodList> =>
      podsOf(client, kind, workload, signal),
    ),
  );
  server.get<LogRoute>(
    `${LANDSCAPE}/log`,
    query({ part: text, pod: text, container: text }, { previous: { type: 'boolean' }, after: stamp }),
    (request) =>
      inCluster(request, ({ client, workload, signal }): Promise<LogLines> => {
        const { pod, container, previous: isPrevious = false, after } = request.query;
        return logOf(client, workload, { pod, container, isPrevious, after }, signal);
      }),
  );
}

interface InCluster {
  readonly client: Client;
  readonly kind: Kind;
  readonly workload: Workload;
  readonly signal: AbortSignal;
}

/** @throws Refused if the landscape has no such object, or the object has no pods */
async function inCluster<T>(
  request: Pick<FastifyRequest, 'viewer'> & {
    readonly params: Landscape['Params'];
    readonly query: { readonly part: string };
  },
  read: (at: InCluster) => Promise<T>,
): Promise<T> {
  const found = objectIn(rootOf(request), request.query.part);
  if (!found) throw new Refused(404, 'the landscape has no such object');
  const { item, object: workload } = found;
  const kind = workloadKind(workload);
  if (!kind) throw new Refused(404, `objects of kind ${workload.kind} have no pods`);
  const viewer = viewerOf(request);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const client = await clusterOf(viewer, item, signal);
  try {
    return await read({ client, kind, workload, signal });
  } catch (error) {
    // The session of the viewer is still valid.
    if (error instanceof Unauthorized && client !== viewer.client) throw new Refused(502, error.message);
    throw error;
  }
}
