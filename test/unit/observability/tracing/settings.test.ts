import { expect } from 'chai';
import {
  tracingSettings,
  TracingSettingsError,
  type TracingSettings,
} from '../../../../src/observability/tracing/settings.ts';

const settings = (env: Record<string, string> = {}, configuration = {}): TracingSettings => {
  const found = tracingSettings({ enabled: true, ...configuration }, env);
  if (!found) throw new Error('traces are off');
  return found;
};

describe('the settings of traces', () => {
  describe('switch traces', () => {
    const rows: readonly (readonly [string, object, Record<string, string>, boolean])[] = [
      ['off by default', {}, {}, false],
      ['off although there is an endpoint', {}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, false],
      ['on with the configuration', { enabled: true }, {}, true],
      ['on with OTEL_TRACES_EXPORTER', {}, { OTEL_TRACES_EXPORTER: 'otlp' }, true],
      ['off with OTEL_TRACES_EXPORTER=none', {}, { OTEL_TRACES_EXPORTER: 'none' }, false],
      ['off with the configuration', { enabled: false }, { OTEL_TRACES_EXPORTER: 'otlp' }, false],
      ['off with OTEL_SDK_DISABLED', { enabled: true }, { OTEL_SDK_DISABLED: 'true' }, false],
    ];
    for (const [title, configuration, env, isOn] of rows) {
      it(title, () => {
        expect(tracingSettings(configuration, env) !== undefined).to.equal(isOn);
      });
    }
  });

  it('have the defaults of OpenTelemetry', () => {
    expect(settings()).to.deep.equal({
      url: undefined,
      protocol: 'http/protobuf',
      sampleRatio: 1,
      queue: { maxSpans: 2048, batchSpans: 512, delayMs: 5000 },
    });
  });
  it('prefer the configuration to environment variables', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://env:4318', OTEL_TRACES_SAMPLER: 'always_off' };
    expect(settings(env, { endpoint: 'http://file:4318/', sampleRatio: 0.5 })).to.include({
      url: 'http://file:4318/v1/traces',
      sampleRatio: 0.5,
    });
  });
  it('treat an empty variable as unset', () => {
    expect(settings({ OTEL_TRACES_SAMPLER: '', OTEL_BSP_MAX_QUEUE_SIZE: ' ' })).to.deep.equal(settings());
  });

  const samplers: readonly (readonly [string, string, number])[] = [
    ['always_on', '', 1],
    ['always_off', '', 0],
    ['traceidratio', '0.25', 0.25],
    ['parentbased_traceidratio', '0.1', 0.1],
    ['parentbased_always_off', '', 0],
    ['traceidratio', '', 1],
  ];
  for (const [name, argument, ratio] of samplers) {
    it(`trace ${String(ratio * 100)} % of the jobs with ${name} ${argument}`, () => {
      const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
      expect(settings(env).sampleRatio).to.equal(ratio);
    });
  }

  const mistakes: readonly (readonly [Record<string, string>, string])[] = [
    [
      { OTEL_TRACES_SAMPLER: 'jaeger_remote' },
      'OTEL_TRACES_SAMPLER="jaeger_remote" is not valid; use one of always_on',
    ],
    [{ OTEL_TRACES_SAMPLER: 'toString' }, 'OTEL_TRACES_SAMPLER="toString" is not valid'],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
      'OTEL_TRACES_SAMPLER_ARG="2" is not valid; use a number from 0 to 1',
    ],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL="grpc" is not valid; use http/protobuf',
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'use a URL like http://collector:4318'],
    [
      { OTEL_BSP_MAX_QUEUE_SIZE: '0' },
      'OTEL_BSP_MAX_QUEUE_SIZE="0" is not valid; use a whole number above 0',
    ],
  ];
  for (const [env, message] of mistakes) {
    it(`refuse ${Object.values(env).join(', ')}`, () => {
      expect(() => settings(env)).to.throw(TracingSettingsError, message);
    });
  }
  it('refuse an exporter that is not built in', () => {
    const env = { OTEL_TRACES_EXPORTER: 'zipkin' };
    expect(() => tracingSettings({}, env)).to.throw(TracingSettingsError, 'use otlp or none');
  });
});
