/** Metrics of requests, with the names of client-go. */
import type { Metrics } from '../../observability/metrics.ts';

export interface RequestMetrics {
  sent(request: { method: string; ref: { verb: string } }, host: string, code: string, ms: number): void;
  repeated(verb: string, host: string): void;
  /** @param ms time in the queue before the request was sent */
  waited(verb: string, host: string, ms: number): void;
  /** @param limit the exceeded limit */
  exceeded(verb: string, host: string, limit: string): void;
}

/** Verbs of client requests; their series exist from the start. */
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'apply', 'delete'] as const;
const hostsOf = new WeakMap<Metrics, Set<string>>();
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** @param host its series exist from the start, with value 0 */
export function createRequestMetrics(metrics: Metrics | undefined, host: string): RequestMetrics {
  if (!metrics) return { sent() {}, repeated() {}, waited() {}, exceeded() {} };
  const { requests, durations, repeats, waits, excesses } = seriesOf(metrics);
  // Several connections may lead to the same host.
  const hosts = hostsOf.get(metrics) ?? new Set<string>();
  hostsOf.set(metrics, hosts);
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

const where = ['verb', 'host'];

/** Several connections, one per target cluster, use the same series. */
const seriesOf = (metrics: Metrics) => ({
  requests: metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to API servers by status code, method and host.',
    labels: ['code', 'method', 'host'],
  }),
  durations: metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time until an API server answered with headers, by verb and host.',
    labels: where,
    buckets: DURATION_BUCKETS,
  }),
  repeats: metrics.counter({
    name: 'rest_client_request_retries_total',
    help: 'Requests sent again, by verb and host.',
    labels: where,
  }),
  waits: metrics.histogram({
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Time that requests waited before they were sent, by verb and host.',
    labels: where,
    buckets: DURATION_BUCKETS,
  }),
  excesses: metrics.counter({
    name: 'espalier_responses_over_limit_total',
    help: 'Responses of API servers that were aborted because they exceeded a limit, by verb, host and limit.',
    labels: [...where, 'limit'],
  }),
});
