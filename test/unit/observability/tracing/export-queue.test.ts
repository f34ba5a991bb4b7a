import { expect } from 'chai';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { CLOSE_MS, ExportQueue } from '../../../../src/observability/tracing/export-queue.ts';
import type { Span } from '../../../../src/observability/tracing/span.ts';
import { FakeClock } from '../../../support/clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const spans = (count: number): readonly Span[] =>
  Array.from({ length: count }, (_, i) => ({
    traceId: '1'.repeat(32),
    spanId: String(i).padStart(16, '0'),
    name: 's',
    kind: 'internal' as const,
    startMs: 0,
    endMs: 1,
    attributes: {},
  }));

/** A queue of ten spans, sent in batches of four, and a collector that the test controls. */
function stage() {
  const clock = new FakeClock();
  const metrics = createMetrics();
  const { log, lines } = recordingLogger();
  const sent: number[] = [];
  const collector: { answer: () => Promise<void> } = { answer: () => Promise.resolve() };
  const queue = new ExportQueue(
    { delayMs: 1000, maxSpans: 10, batchSpans: 4 },
    {
      clock,
      metrics,
      log,
      send: (batch) => {
        sent.push(batch.length);
        return collector.answer();
      },
    },
  );
  const counts = async (): Promise<readonly number[]> => {
    const text = await metrics.text();
    return ['exported', 'dropped'].map((outcome) =>
      Number(
        new RegExp(`^espalier_trace_spans_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1],
      ),
    );
  };
  return { clock, lines, sent, collector, queue, counts };
}

describe('the queue of spans', () => {
  it('sends a full batch at once, and the rest after a delay', async () => {
    const { clock, sent, queue, counts } = stage();
    queue.add(spans(6));
    await clock.advance(0);
    expect(sent).to.deep.equal([4]);
    await clock.advance(999);
    expect(sent).to.deep.equal([4]);
    await clock.advance(1);
    expect(sent).to.deep.equal([4, 2]);
    expect(await counts()).to.deep.equal([6, 0]);
  });

  it('sends one batch at a time, and counts what does not fit', async () => {
    const { clock, sent, collector, queue, counts } = stage();
    collector.answer = () => new Promise(() => undefined);
    queue.add(spans(4));
    for (let i = 0; i < 5; i++) queue.add(spans(4));
    await clock.advance(60_000);
    expect(sent).to.deep.equal([4]);
    expect(await counts()).to.deep.equal([0, 10]);
  });

  it('logs one line for an outage, and one for its end', async () => {
    const { clock, lines, collector, queue, counts } = stage();
    collector.answer = () => Promise.reject(new Error('connect ECONNREFUSED'));
    for (let i = 0; i < 5; i++) {
      queue.add(spans(4));
      await clock.advance(1000);
    }
    expect(lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'warn exporting traces failed, dropping spans',
    ]);
    expect(lines[0]?.fields).to.deep.equal({ err: 'connect ECONNREFUSED' });
    collector.answer = () => Promise.resolve();
    queue.add(spans(4));
    await clock.advance(1000);
    expect(lines.map(({ message }) => message)).to.include('traces are exported again');
    expect(lines).to.have.length(2);
    expect(await counts()).to.deep.equal([4, 20]);
  });

  it('sends everything when it is closed', async () => {
    const { sent, queue, counts } = stage();
    queue.add(spans(3));
    await queue.close();
    expect(sent).to.deep.equal([3]);
    expect(await counts()).to.deep.equal([3, 0]);
  });

  it('waits only a few seconds for the collector when it is closed', async () => {
    const { clock, collector, queue, counts } = stage();
    collector.answer = () => new Promise(() => undefined);
    queue.add(spans(7));
    let isClosed = false;
    const closing = queue.close().then(() => (isClosed = true));
    await clock.advance(CLOSE_MS - 1);
    expect(isClosed).to.equal(false);
    await clock.advance(1);
    await closing;
    // The batch under way is neither exported nor known to be lost.
    expect(await counts()).to.deep.equal([0, 3]);
  });

  it('drops what comes after it was closed', async () => {
    const { sent, queue, counts } = stage();
    await queue.close();
    queue.add(spans(5));
    expect(sent).to.deep.equal([]);
    expect(await counts()).to.deep.equal([0, 5]);
  });
});
