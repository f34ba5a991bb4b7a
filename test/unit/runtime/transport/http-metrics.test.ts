import { expect } from 'chai';
import { createMetrics, type Metrics } from '../../../../src/observability/metrics.ts';
import { createRequestMetrics } from '../../../../src/runtime/transport/http-metrics.ts';

describe('the metrics of requests', () => {
  const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'apply', 'delete'];
  const linesOf = async (metrics: Metrics): Promise<readonly string[]> => (await metrics.text()).split('\n');
  const seriesOf = async (metrics: Metrics, name: string): Promise<readonly string[]> =>
    (await linesOf(metrics)).filter((line) => line.startsWith(`${name}{`));
  const request = { method: 'GET', ref: { verb: 'get' } };

  it('count nothing without metrics', async () => {
    const requests = createRequestMetrics(undefined, 'h');
    expect(() => {
      requests.sent(request, 'h', '200', 1);
      requests.repeated('get', 'h');
      requests.waited('get', 'h', 1);
      requests.exceeded('get', 'h', 'bytes');
    }).not.to.throw();
  });

  it('have a series for each verb from the start, at 0', async () => {
    const metrics = createMetrics();
    createRequestMetrics(metrics, 'h');
    const zero = (name: string): readonly string[] =>
      VERBS.map((verb) => `${name}{verb="${verb}",host="h"} 0`);
    for (const name of [
      'rest_client_request_retries_total',
      'rest_client_request_duration_seconds_count',
      'rest_client_rate_limiter_duration_seconds_count',
    ])
      expect(await seriesOf(metrics, name)).to.deep.equal(zero(name));
    expect(await seriesOf(metrics, 'rest_client_requests_total')).to.deep.equal([]);
  });

  it('count what was sent, by code, method and host, and how long it took in seconds', async () => {
    const metrics = createMetrics();
    const requests = createRequestMetrics(metrics, 'h');
    requests.sent(request, 'h', '200', 30);
    requests.sent(request, 'h', '200', 70);
    requests.sent(request, 'h', '<error>', 0);
    expect(await seriesOf(metrics, 'rest_client_requests_total')).to.deep.equal([
      'rest_client_requests_total{code="200",method="GET",host="h"} 2',
      'rest_client_requests_total{code="<error>",method="GET",host="h"} 1',
    ]);
    const lines = await linesOf(metrics);
    const name = 'rest_client_request_duration_seconds';
    expect(lines).to.include(`${name}_sum{verb="get",host="h"} 0.1`);
    expect(lines).to.include(`${name}_bucket{le="0.025",verb="get",host="h"} 1`);
    expect(lines).to.include(`${name}_bucket{le="0.1",verb="get",host="h"} 3`);
  });

  it('count repeats, waits in seconds, and answers over a limit', async () => {
    const metrics = createMetrics();
    const requests = createRequestMetrics(metrics, 'h');
    requests.repeated('list', 'h');
    requests.waited('list', 'h', 1_500);
    requests.exceeded('list', 'h', 'bytes');
    const lines = await linesOf(metrics);
    expect(lines).to.include('rest_client_request_retries_total{verb="list",host="h"} 1');
    expect(lines).to.include('rest_client_rate_limiter_duration_seconds_sum{verb="list",host="h"} 1.5');
    expect(lines).to.include('espalier_responses_over_limit_total{verb="list",host="h",limit="bytes"} 1');
  });

  it('go on counting when another connection to the host is opened', async () => {
    const metrics = createMetrics();
    const first = createRequestMetrics(metrics, 'h');
    first.repeated('get', 'h');
    first.waited('get', 'h', 1_000);
    first.sent(request, 'h', '200', 1_000);
    const second = createRequestMetrics(metrics, 'h');
    second.repeated('get', 'h');
    const lines = await linesOf(metrics);
    expect(lines).to.include('rest_client_request_retries_total{verb="get",host="h"} 2');
    expect(lines).to.include('rest_client_rate_limiter_duration_seconds_sum{verb="get",host="h"} 1');
    expect(lines).to.include('rest_client_request_duration_seconds_sum{verb="get",host="h"} 1');
  });

  it('have series of their own for each host', async () => {
    const metrics = createMetrics();
    createRequestMetrics(metrics, 'h');
    createRequestMetrics(metrics, 'i');
    const series = await seriesOf(metrics, 'rest_client_request_retries_total');
    expect(series).to.have.length(2 * VERBS.length);
  });

  it('say what they are', async () => {
    const metrics = createMetrics();
    createRequestMetrics(metrics, 'h');
    const help = (await linesOf(metrics)).filter((line) => line.startsWith('# HELP'));
    expect(help.map((line) => line.split(' ')[2])).to.deep.equal([
      'rest_client_requests_total',
      'rest_client_request_duration_seconds',
      'rest_client_request_retries_total',
      'rest_client_rate_limiter_duration_seconds',
      'espalier_responses_over_limit_total',
    ]);
    for (const line of help) expect(line.split(' ').slice(3).join(' ')).to.match(/^[A-Z].*\.$/);
  });
});
