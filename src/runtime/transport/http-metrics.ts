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
  const prom = await import('prom-client');
  // Several connections, one per target cluster, count into the same registry.
  const known = <M>(name: string): M | undefined => registry.getSingleMetric(name) as M | undefined;
  const registers = [registry];
  const requests =
    known<Counter>('rest_client_requests_total') ??
    new prom.Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to API servers by status code, method and host.',
      labelNames: ['code', 'method', 'host'],
      registers,
    });
  const durations =
    known<Histogram>('rest_client_request_duration_seconds') ??
    new prom.Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time until an API server answered with headers, by verb and host.',
      labelNames: ['verb', 'host'],
      buckets: DURATION_BUCKETS,
      registers,
    });
  const repeats =
    known<Counter>('rest_client_request_retries_total') ??
    new prom.Counter({
      name: 'rest_client_request_retries_total',
      help: 'Requests sent again, by verb and host.',
      labelNames: ['verb', 'host'],
      registers,
    });
  const waits =
    known<Histogram>('rest_client_rate_limiter_duration_seconds') ??
    new prom.Histogram({
      name: 'rest_client_rate_limiter_duration_seconds',
      help: 'How long requests stood in line before they were sent, by verb and host.',
      labelNames: ['verb', 'host'],
      buckets: DURATION_BUCKETS,
      registers,
    });
  const excesses =
    known<Counter>('espalier_responses_over_limit_total') ??
    new prom.Counter({
      name: 'espalier_responses_over_limit_total',
      help: 'Answers of API servers that were cut off because they passed a limit, by verb, host and limit.',
      labelNames: ['verb', 'host', 'limit'],
      registers,
    });
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
