/** The request metrics, under the names that client-go gives them. */
import type { Counter, Histogram, Registry } from 'prom-client';

export interface RequestMetrics {
  sent(request: { method: string; ref: { verb: string } }, host: string, code: string, ms: number): void;
  repeated(verb: string, host: string): void;
}

/** @param registry none: nothing is counted, and prom-client is not loaded */
export async function createRequestMetrics(registry: Registry | undefined): Promise<RequestMetrics> {
  if (!registry) return { sent() {}, repeated() {} };
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
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
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
  return {
    sent(request, host, code, ms) {
      requests.inc({ code, method: request.method, host });
      durations.observe({ verb: request.ref.verb, host }, ms / 1000);
    },
    repeated(verb, host) {
      repeats.inc({ verb, host });
    },
  };
}
