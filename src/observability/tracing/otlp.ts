/**
 * Converts spans to those of OpenTelemetry, and sends them with the official exporter. The only file that imports its
 * packages. It is loaded when traces are switched on.
 */
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Attributes as OtelAttributes,
} from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { TracingSettings } from './settings.ts';
import type { Attributes, Span } from './span.ts';

/** Attributes of the process, such as its name; environment variables take precedence. */
type ProcessAttributes = Readonly<Record<string, string>>;

/** The connection to a collector. */
interface Otlp {
  /** @throws what the exporter reports after its own retries */
  send(spans: readonly Span[]): Promise<void>;
  isSampled(traceId: string): boolean;
  close(): Promise<void>;
}

export function connectOtlp(
  { url, protocol, sampleRatio }: Pick<TracingSettings, 'url' | 'protocol' | 'sampleRatio'>,
  about: ProcessAttributes,
): Otlp {
  const options = url === undefined ? {} : { url };
  const exporter = protocol === 'http/json' ? new JsonExporter(options) : new ProtobufExporter(options);
  const sampler = new TraceIdRatioBasedSampler(sampleRatio);
  const resource = resourceFromAttributes(about).merge(detectResources({ detectors: [envDetector] }));
  const scope = { name: 'espalier', version: about['service.version'] ?? '' };
  return {
    isSampled: (traceId) =>
      sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED,
    send: (spans) =>
      new Promise((resolve, reject) => {
        exporter.export(
          spans.map((span) => ({ ...converted(span), resource, instrumentationScope: scope })),
          ({ code, error }) => {
            // An enumeration of a package that is not imported: 0 is success, 1 failure.
            const result: number = code;
            if (result === 0) resolve();
            else reject(error ?? new Error('the collector did not accept the spans'));
          },
        );
      }),
    close: () => exporter.shutdown(),
  };
}

type HrTime = [number, number];
const NANOS = 1e6;

function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * NANOS)];
}

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;

function converted(span: Span): Omit<ReadableSpan, 'resource' | 'instrumentationScope'> {
  const { traceId, spanId, parentSpanId, startMs, error, events = [] } = span;
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  const endMs = Math.max(startMs, span.endMs);
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => contextOf(spanId),
    ...(parentSpanId !== undefined && { parentSpanContext: contextOf(parentSpanId) }),
    startTime: timeOf(startMs),
    endTime: timeOf(endMs),
    duration: timeOf(endMs - startMs),
    status:
      error === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, ...(error !== '' && { message: error }) },
    attributes: attributesOf(span.attributes),
    events: events.map(({ name, ms, attributes = {} }) => ({
      name,
      time: timeOf(ms),
      attributes: attributesOf(attributes),
    })),
    links: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const attributesOf = (attributes: Attributes): OtelAttributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as OtelAttributes;
