/** Settings of traces: those of a configuration file, and the standard environment variables of OpenTelemetry. Pure. */
import { table } from '../../lib/objects.ts';
import type { QueueLimits } from './export-queue.ts';
import { trimmedEnd } from '../../lib/trim.ts';

/** Settings of a configuration file; each is preferred to the environment variable of the same meaning. */
export interface TracingConfiguration {
  /** Default: whether OTEL_TRACES_EXPORTER is `otlp`. */
  readonly enabled?: boolean;
  /** URL of the collector, without the path `/v1/traces`. */
  readonly endpoint?: string;
  /** Share of the jobs that are traced, from 0 to 1. */
  readonly sampleRatio?: number;
}

export interface TracingSettings {
  /** Of the collector, with the path; undefined: as the environment variables say. */
  readonly url: string | undefined;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** From 0 to 1. */
  readonly sampleRatio: number;
  readonly queue: QueueLimits;
}

/** An environment variable with an invalid value; the message names it. */
export class TracingSettingsError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Undefined if traces are switched off.
 * @throws TracingSettingsError
 */
export function tracingSettings(
  { enabled, endpoint, sampleRatio }: TracingConfiguration,
  env: Environment,
): TracingSettings | undefined {
  if (valueOf(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  if (!(enabled ?? isRequested(env))) return undefined;
  checkUrls(env);
  const maxSpans = numberOf(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048);
  return {
    url: endpoint === undefined ? undefined : `${trimmedEnd(endpoint, '/')}/v1/traces`,
    protocol: protocolOf(env),
    sampleRatio: sampleRatio ?? ratioOf(env),
    queue: {
      maxSpans,
      batchSpans: Math.min(maxSpans, numberOf(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
      delayMs: numberOf(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
    },
  };
}

/** An empty variable counts as unset, as OpenTelemetry specifies. */
const valueOf = (env: Environment, name: string): string | undefined => env[name]?.trim() || undefined;

function isRequested(env: Environment): boolean {
  const exporter = valueOf(env, 'OTEL_TRACES_EXPORTER') ?? 'none';
  if (exporter !== 'none' && exporter !== 'otlp')
    throw invalid('OTEL_TRACES_EXPORTER', exporter, 'otlp or none');
  return exporter === 'otlp';
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

function checkUrls(env: Environment): void {
  for (const name of ENDPOINTS) {
    const url = valueOf(env, name);
    if (url !== undefined && !isHttpUrl(url)) throw invalid(name, url, 'a URL like http://collector:4318');
  }
}

/** Whether a string is an absolute URL of an HTTP server. */
export const isHttpUrl = (text: string): boolean =>
  /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).search === '';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

function protocolOf(env: Environment): TracingSettings['protocol'] {
  const name = valueOf(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL')
    ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
    : 'OTEL_EXPORTER_OTLP_PROTOCOL';
  const wanted = valueOf(env, name) ?? 'http/protobuf';
  const protocol = PROTOCOLS.find((known) => known === wanted);
  if (!protocol)
    throw invalid(name, wanted, `${PROTOCOLS.join(' or ')}, which collectors serve at port 4318`);
  return protocol;
}

/** Every trace starts here, so the samplers that follow a parent decide like the others. */
const SAMPLERS: Readonly<Record<string, 'on' | 'off' | 'ratio'>> = table({
  always_on: 'on',
  always_off: 'off',
  traceidratio: 'ratio',
  parentbased_always_on: 'on',
  parentbased_always_off: 'off',
  parentbased_traceidratio: 'ratio',
});

function ratioOf(env: Environment): number {
  const wanted = valueOf(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const sampler = SAMPLERS[wanted];
  if (!sampler) throw invalid('OTEL_TRACES_SAMPLER', wanted, `one of ${Object.keys(SAMPLERS).join(', ')}`);
  if (sampler !== 'ratio') return sampler === 'on' ? 1 : 0;
  const text = valueOf(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) throw invalid('OTEL_TRACES_SAMPLER_ARG', text, 'a number from 0 to 1');
  return ratio;
}

function numberOf(env: Environment, name: string, fallback: number): number {
  const text = valueOf(env, name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw invalid(name, text, 'a whole number above 0');
  return value;
}

const invalid = (name: string, value: string, expected: string): TracingSettingsError =>
  new TracingSettingsError(`${name}="${value}" is not valid; use ${expected}`);
