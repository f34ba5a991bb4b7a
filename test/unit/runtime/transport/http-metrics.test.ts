import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createRequestMetrics } from '../../../../src/runtime/transport/http-metrics.ts';

describe('the metrics of requests', () => {
  const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'apply', 'delete'];
  const linesOf = async (registry: Registry): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n');
  const seriesOf = async (registry: Registry, name: string): Promise<readonly string[]> =>
    (await linesOf(registry)).filter((line) => line.startsWith(`${name}{`));
  const request = { method: 'GET', ref: { verb: 'get' } };

  it('count nothing without a registry', async () => {
    const metrics = await createRequestMetrics(undefined, 'h');
    expect(() => {
      metrics.sent(request, 'h', '200', 1);
      metrics.repeated('get', 'h');
      metrics.waited('get', 'h', 1);
      metrics.exceeded('get', 'h', 'bytes');
    }).not.to.throw();
  });

  it('have a series for each verb from the start, at 0', async () => {
    const registry = new Registry();
    await createRequestMetrics(registry, 'h');
    const zero = (name: string): readonly string[] =>
      VERBS.map((verb) => `${name}{verb="${verb}",host="h"} 0`);
    for (const name of [
      'rest_client_request_retries_total',
      'rest_client_request_duration_seconds_count',
      'rest_client_rate_limiter_duration_seconds_count',
    ])
      expect(await seriesOf(registry, name)).to.deep.equal(zero(name));
    expect(await seriesOf(registry, 'rest_client_requests_total')).to.deep.equal([]);
  });

  it('count what was sent, by code, method and host, and how long it took in seconds', async () => {
    const registry = new Registry();
    const metrics = await createRequestMetrics(registry, 'h');
    metrics.sent(request, 'h', '200', 30);
    metrics.sent(request, 'h', '200', 70);
    metrics.sent(request, 'h', '<error>', 0);
    expect(await seriesOf(registry, 'rest_client_requests_total')).to.deep.equal([
      'rest_client_requests_total{code="200",method="GET",host="h"} 2',
      'rest_client_requests_total{code="<error>",method="GET",host="h"} 1',
    ]);
    const lines = await linesOf(registry);
    const name = 'rest_client_request_duration_seconds';
    expect(lines).to.include(`${name}_sum{verb="get",host="h"} 0.1`);
    expect(lines).to.include(`${name}_bucket{le="0.025",verb="get",host="h"} 1`);
    expect(lines).to.include(`${name}_bucket{le="0.1",verb="get",host="h"} 3`);
  });

  it('count repeats, waits in seconds, and answers over a limit', async () => {
    const registry = new Registry();
    const metrics = await createRequestMetrics(registry, 'h');
    metrics.repeated('list', 'h');
    metrics.waited('list', 'h', 1_500);
    metrics.exceeded('list', 'h', 'bytes');
    const lines = await linesOf(registry);
    expect(lines).to.include('rest_client_request_retries_total{verb="list",host="h"} 1');
    expect(lines).to.include('rest_client_rate_limiter_duration_seconds_sum{verb="list",host="h"} 1.5');
    expect(lines).to.include('espalier_responses_over_limit_total{verb="list",host="h",limit="bytes"} 1');
  });

  it('go on counting when another connection to the host is opened', async () => {
    const registry = new Registry();
    const first = await createRequestMetrics(registry, 'h');
    first.repeated('get', 'h');
    first.waited('get', 'h', 1_000);
    first.sent(request, 'h', '200', 1_000);
    const second = await createRequestMetrics(registry, 'h');
    second.repeated('get', 'h');
    const lines = await linesOf(registry);
    expect(lines).to.include('rest_client_request_retries_total{verb="get",host="h"} 2');
    expect(lines).to.include('rest_client_rate_limiter_duration_seconds_sum{verb="get",host="h"} 1');
    expect(lines).to.include('rest_client_request_duration_seconds_sum{verb="get",host="h"} 1');
  });

  it('have series of their own for each host', async () => {
    const registry = new Registry();
    await createRequestMetrics(registry, 'h');
    await createRequestMetrics(registry, 'i');
    const series = await seriesOf(registry, 'rest_client_request_retries_total');
    expect(series).to.have.length(2 * VERBS.length);
  });

  it('say what they are', async () => {
    const registry = new Registry();
    await createRequestMetrics(registry, 'h');
    const help = (await linesOf(registry)).filter((line) => line.startsWith('# HELP'));
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
