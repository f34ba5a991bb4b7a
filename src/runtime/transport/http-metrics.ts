/** The request metrics, under the names that client-go gives them. */
import type { Counter, Histogram, Registry } from 'prom-client';

export interface RequestMetrics {
  sent(request: { method: string; ref: { verb: string } }, host: string, code: string, ms: number): void;
  repeated(verb: string, host: string): void;
  /** @param ms how long a request stood in line behind others before it was sent */
  waited(verb: string, host: string, ms: number): void;
  /** @param limit which one an answer has passed */
  exceeded(verb: string, host: string, limit: string): void;
}

/** What requests of clients are called; their series are there from the start. */
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'apply', 'delete'] as const;
const hostsOf = new WeakMap<Registry, Set<string>>();
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * @param registry none: nothing is counted, and prom-client is not loaded
 * @param host whose series are to be there from the start, at 0
 */
export async function createRequestMetrics(
  registry: Registry | undefined,
  host: string,
): Promise<RequestMetrics> {
  if (!registry) return { sent() {}, repeated() {}, waited() {}, exceeded() {} };
  const { requests, durations, repeats, waits, excesses } = await seriesIn(registry);
  // A second connection to a host counts on into what is there.
  const hosts = hostsOf.get(registry) ?? new Set<string>();
  hostsOf.set(registry, hosts);
  for (const verb of hosts.has(host) ? [] : VERBS) {
    repeats.inc({ verb, host }, 0);
    durations.zero({ verb, host });
    waits.zero({ verb, host });
  }
  hosts.add(host);
  return {
    sent(request, host, code, ms) {
      requests.inc({ code, method: request.method, host });
      durations.observe({ verb: request.ref.verb, host }, ms / 1000);
    },
    repeated(verb, host) {
      repeats.inc({ verb, host });
    },
    waited(verb, host, ms) {
      waits.observe({ verb, host }, ms / 1000);
    },
    exceeded(verb, host, limit) {
      excesses.inc({ verb, host, limit });
    },
  };
}

/** Several connections, one per target cluster, count into the same registry. */
async function seriesIn(registry: Registry) {
  const prom = await import('prom-client');
  const known = <M>(name: string): M | undefined => registry.getSingleMetric(name) as M | undefined;
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]): Counter =>
    known<Counter>(name) ?? new prom.Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[]): Histogram =>
    known<Histogram>(name) ??
    new prom.Histogram({ name, help, labelNames, buckets: DURATION_BUCKETS, registers });
  const where = ['verb', 'host'];
  return {
    requests: counter(
      'rest_client_requests_total',
      'Requests to API servers by status code, method and host.',
      ['code', 'method', 'host'],
    ),
    durations: histogram(
      'rest_client_request_duration_seconds',
      'Time until an API server answered with headers, by verb and host.',
      where,
    ),
    repeats: counter('rest_client_request_retries_total', 'Requests sent again, by verb and host.', where),
    waits: histogram(
      'rest_client_rate_limiter_duration_seconds',
      'Time that requests waited before they were sent, by verb and host.',
      where,
    ),
    excesses: counter(
      'espalier_responses_over_limit_total',
      'Responses of API servers that were aborted because they exceeded a limit, by verb, host and limit.',
      [...where, 'limit'],
    ),
  };
}
