import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { spanIdOf, traceIdOf, traceparentOf } from '../../../../src/observability/tracing/ids.ts';

describe('the ids of a trace', () => {
  const JOB = '8F527D72-1c2d-4e3f-9a4b-5c6d7e8f9a0b';
  const place = { kind: 'DeployItem', namespace: 'hello', name: 'web-x7k2p' };

  it('are the digits of the job id', () => {
    expect(traceIdOf(JOB)).to.equal('8f527d721c2d4e3f9a4b5c6d7e8f9a0b');
  });
  for (const id of ['job-1', '', '00000000-0000-0000-0000-000000000000']) {
    it(`are valid for a job id that is not a UUID: "${id}"`, () => {
      expect(traceIdOf(id)).to.match(/^[0-9a-f]{32}$/);
      expect(traceIdOf(id)).not.to.match(/^0+$/);
      expect(traceIdOf(id)).to.equal(traceIdOf(id));
    });
  }
  it('can be computed with sha256sum', () => {
    const hash = createHash('sha256').update(`${JOB}/DeployItem/hello/web-x7k2p`).digest('hex');
    expect(spanIdOf(JOB, place)).to.equal(hash.slice(0, 16));
  });
  it('differ between jobs, objects, kinds and parts', () => {
    const ids = [
      spanIdOf(JOB, place),
      spanIdOf('other', place),
      spanIdOf(JOB, { ...place, kind: 'Execution' }),
      spanIdOf(JOB, { ...place, name: 'other' }),
      spanIdOf(JOB, place, 'wait/a'),
    ];
    expect(new Set(ids).size).to.equal(ids.length);
  });
  it('form a traceparent of W3C', () => {
    const [traceId, spanId] = [traceIdOf(JOB), spanIdOf(JOB, place)];
    expect(traceparentOf(traceId, spanId, true)).to.equal(`00-${traceId}-${spanId}-01`);
    expect(traceparentOf(traceId, spanId, false)).to.match(/-00$/);
  });
});
