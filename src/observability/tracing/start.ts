/** Switches traces on: loads the exporter, and connects it with the queue. */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { ExportQueue } from './export-queue.ts';
import { tracingSettings, type TracingConfiguration } from './settings.ts';
import type { Tracer } from './span.ts';

interface TracingPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Names of the process, for all its spans. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence. */
  readonly service: { readonly name: string; readonly version: string; readonly instance: string };
}

interface StartedTracer extends Tracer {
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

/**
 * Undefined if traces are switched off; then no package of OpenTelemetry is loaded.
 * @throws TracingSettingsError
 */
export async function startTracing(
  configuration: TracingConfiguration,
  { clock, log, metrics, env = process.env, service }: TracingPorts,
): Promise<StartedTracer | undefined> {
  const settings = tracingSettings(configuration, env);
  if (!settings) return undefined;
  const { connectOtlp } = await import('./otlp.ts');
  const pod = env['MY_POD_NAME'];
  const namespace = env['MY_POD_NAMESPACE'];
  const otlp = connectOtlp(settings, {
    'service.name': service.name,
    'service.version': service.version,
    'service.instance.id': service.instance,
    ...(pod && { 'k8s.pod.name': pod }),
    ...(namespace && { 'k8s.namespace.name': namespace }),
  });
  const queue = new ExportQueue(settings.queue, { send: (spans) => otlp.send(spans), clock, log, metrics });
  log.info({ sampleRatio: settings.sampleRatio }, 'traces are exported');
  return {
    isSampled: (traceId) => otlp.isSampled(traceId),
    record(spans) {
      const sampled = spans.filter(({ traceId }) => otlp.isSampled(traceId));
      if (sampled.length > 0) queue.add(sampled);
    },
    dropped(count) {
      queue.dropped(count);
    },
    async close() {
      await queue.close();
      // It waits for requests that are under way, which the queue has given up.
      void otlp.close().catch(() => undefined);
    },
  };
}
