/** The section `tracing` of the configuration file. */
import { z } from 'zod';
import { isHttpUrl, type TracingConfiguration } from '../../observability/tracing/settings.ts';
import { section, setting } from './schema-parts.ts';

export const tracing = section({
  enabled: setting(
    z.boolean(),
    '`true`: Espalier exports [traces](observability.md#traces) of jobs; not in upstream, nor are the next two',
    '`true` if the environment variable `OTEL_TRACES_EXPORTER` is `otlp`',
  ),
  endpoint: setting(
    z.string().refine(isHttpUrl, 'is not the URL of a collector; use a value like http://collector:4318'),
    'URL of a collector that serves OTLP over HTTP, without the path `/v1/traces`',
    '`OTEL_EXPORTER_OTLP_ENDPOINT`, or `http://localhost:4318`',
  ),
  sampleRatio: setting(
    z.number().min(0).max(1),
    'share of the jobs that are traced, from 0 to 1; their ids decide, so all replicas and deployers trace the same jobs',
    '`OTEL_TRACES_SAMPLER`, or 1',
  ),
});

/** null means the default. */
export const tracingIn = ({
  enabled,
  endpoint,
  sampleRatio,
}: NonNullable<z.infer<typeof tracing>>): TracingConfiguration => ({
  ...(typeof enabled === 'boolean' && { enabled }),
  ...(typeof endpoint === 'string' && { endpoint }),
  ...(typeof sampleRatio === 'number' && { sampleRatio }),
});
