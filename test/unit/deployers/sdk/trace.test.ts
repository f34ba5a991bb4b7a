/** What a plugin sees of the trace of its deploy item. */
import { expect } from 'chai';
import { traceOf } from '../../../../deployers/sdk/trace.ts';
import type { Tracer } from '../../../../src/observability/tracing/span.ts';
import { item } from '../../../support/given.ts';

describe('the trace of a deploy item', () => {
  const tracer = { isSampled: () => true } as unknown as Tracer;
  const contextOf = (jobID: string): string | undefined =>
    traceOf(item('exec', 'web', { jobID }), tracer).traceparent;

  it('has a W3C trace context, the same for the whole job', () => {
    expect(contextOf('j1')).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(contextOf('j1')).to.equal(contextOf('j1')).and.not.equal(contextOf('j2'));
  });

  it('has none if traces are switched off', () => {
    expect(traceOf(item('exec', 'web'), undefined).traceparent).to.equal(undefined);
  });
});
