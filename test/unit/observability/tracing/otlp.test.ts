/** The exporter against a collector that decodes what it receives. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { connectOtlp } from '../../../../src/observability/tracing/otlp.ts';
import type { Span } from '../../../../src/observability/tracing/span.ts';
import { startCollector, type Collector } from '../../../support/collector.ts';

const sourceOf = (file: string): string => new URL(`../../../../${file}`, import.meta.url).href;

const span: Span = {
  traceId: '8f527d721c2d4e3f9a4b5c6d7e8f9a0b',
  spanId: '0123456789abcdef',
  parentSpanId: 'fedcba9876543210',
  name: 'POST Secret',
  kind: 'client',
  startMs: 1_767_225_600_000.25,
  endMs: 1_767_225_600_001.5,
  attributes: { text: 'a', number: 201, yes: true, codes: ['A', 'B'], none: undefined },
  events: [{ name: 'phase Init', ms: 1_767_225_600_000 }],
  error: 'the disk is full',
};

describe('the exporter of traces', () => {
  let collector: Collector;
  beforeEach(async () => {
    collector = await startCollector();
  });
  afterEach(() => collector.close());

  for (const protocol of ['http/protobuf', 'http/json'] as const) {
    it(`sends all fields of a span with ${protocol}`, async () => {
      const url = `${collector.url}/v1/traces`;
      const otlp = connectOtlp({ url, protocol, sampleRatio: 1 }, { 'service.name': 'test' });
      await otlp.send([span]);
      await otlp.close();
      expect(collector.resources).to.deep.equal([{ 'service.name': 'test' }]);
      const [received] = collector.spans;
      expect(received?.attributes['yes']).to.be.oneOf([true, 1]);
      expect({ ...received, attributes: { ...received?.attributes, yes: true } }).to.deep.equal({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: 3,
        start: 1_767_225_600_000_250_000n,
        end: 1_767_225_600_001_500_000n,
        attributes: { text: 'a', number: 201, yes: true, codes: ['A', 'B'] },
        events: ['phase Init'],
        error: 'the disk is full',
      });
    });
  }

  it('reports a collector that refuses', async () => {
    collector.answer(400);
    const otlp = connectOtlp(
      { url: `${collector.url}/v1/traces`, protocol: 'http/protobuf', sampleRatio: 1 },
      {},
    );
    const error = await otlp.send([span]).catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error');
    await otlp.close();
  });

  it('chooses the share of traces by their id', () => {
    const otlp = connectOtlp({ url: undefined, protocol: 'http/json', sampleRatio: 0.5 }, {});
    expect(otlp.isSampled('0'.repeat(31) + '1')).to.equal(true);
    expect(otlp.isSampled('0'.repeat(24) + 'f'.repeat(8))).to.equal(false);
  });

  it('is not loaded by a process without traces', function () {
    this.timeout(60_000);
    const script = `
      import '${sourceOf('src/cli/composition/landscaper.ts')}';
      import '${sourceOf('deployers/sdk/index.ts')}';
      const { startTracing } = await import('${sourceOf('src/observability/tracing/start.ts')}');
      const { createMetrics } = await import('${sourceOf('src/observability/metrics.ts')}');
      const { createRequire } = await import('node:module');
      const loaded = () =>
        Object.keys(createRequire('/').cache).filter((file) => /@opentelemetry.(?!api)/.test(file)).length > 0;
      const service = { name: 'test', version: '1', instance: 'a' };
      const ports = { clock: {}, log: { info() {} }, metrics: createMetrics(), service };
      await startTracing({}, { ...ports, env: {} });
      const off = loaded();
      await startTracing({ enabled: true }, { ...ports, env: {} });
      console.log(off, loaded());
    `;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', script],
      { encoding: 'utf8' },
    );
    expect(stdout.trim(), stderr).to.equal('false true');
  });
});
