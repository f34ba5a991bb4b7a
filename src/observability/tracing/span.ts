/** Spans as plain values, and the tracer that exports them. */
import { spanIdOf, traceIdOf, traceparentOf, type Place } from './ids.ts';

/** An undefined value is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Something that happened during a span. */
export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly ms: number;
  readonly attributes?: Attributes;
}

/** A span that has ended. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  /** `client`: a request to another server. */
  readonly kind: 'internal' | 'client';
  /** Milliseconds since 1970, with fractions; so is `endMs`. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events?: readonly SpanEvent[];
  /** Message of the failure; undefined if there was none, '' if it has no message. */
  readonly error?: string | undefined;
}

/** Exports spans. Exists only while traces are switched on. */
export interface Tracer {
  isSampled(traceId: string): boolean;
  /** Never throws, and never waits. Spans of traces that are not sampled are ignored. */
  record(spans: readonly Span[]): void;
  /** Counts spans that were not recorded. */
  dropped(count: number): void;
}

/** Trace context of the part of a job that belongs to an object, as the value of a `traceparent` header. */
export const traceparentFor = (tracer: Tracer, jobID: string, place: Place): string => {
  const traceId = traceIdOf(jobID);
  return traceparentOf(traceId, spanIdOf(jobID, place), tracer.isSampled(traceId));
};
