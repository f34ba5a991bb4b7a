/** What a plugin sees of traces: the context of its deploy item, and spans of its own. */
import type { View } from '../../src/runtime/types.ts';
import { inSpan } from '../../src/observability/tracing/scope.ts';
import { traceparentFor, type Attributes, type Tracer } from '../../src/observability/tracing/span.ts';
import type { DeployItem } from './kinds.ts';

/** The trace of the job of a deploy item. Without traces, `span` only calls its function. */
export interface DeployTrace {
  /**
   * W3C trace context of the deploy item, for the `traceparent` header of requests and the TRACEPARENT variable of
   * programs; undefined if traces are switched off.
   */
  readonly traceparent: string | undefined;
  /**
   * Calls `work` within a span below the current one. If it throws, the message becomes the status of the span.
   * Attributes must not contain secrets.
   */
  span<T>(name: string, work: () => Promise<T>, attributes?: Attributes): Promise<T>;
}

export const traceOf = (
  { kind, metadata, status }: View<DeployItem>,
  tracer: Tracer | undefined,
): DeployTrace => ({
  traceparent:
    tracer &&
    traceparentFor(tracer, status?.jobID ?? '', {
      kind,
      namespace: metadata.namespace ?? '',
      name: metadata.name,
    }),
  span: (name, work, attributes = {}) => inSpan(() => ({ name, attributes }), work),
});
