import { expect } from 'chai';
import { createServer, type AddressInfo } from 'node:net';
import {
  HealthPortError,
  startHealthServer,
  type Check,
  type HealthServer,
} from '../../../src/observability/health.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';

describe('the health server', () => {
  let server: HealthServer | undefined;
  let troubles: Record<string, string | undefined>;
  const check = (name: string, probe: Check['probe']): Check => ({
    name,
    probe,
    problem: () => troubles[name],
  });

  beforeEach(async () => {
    troubles = {};
    const metrics = createMetrics();
    metrics.counter({ name: 'things_total', help: 'Things.', labels: ['sort'], zero: [{ sort: 'a' }] });
    server = await startHealthServer({
      host: '127.0.0.1',
      port: 0,
      metrics,
      checks: [
        check('loop', 'live'),
        check('sources', 'ready'),
        {
          name: 'broken',
          probe: 'ready',
          problem() {
            if (troubles['broken']) throw new Error('cannot tell');
            return undefined;
          },
        },
      ],
    });
  });
  afterEach(() => server?.close());

  const get = async (path: string): Promise<readonly [number, string]> => {
    const answer = await fetch(`${server?.url ?? ''}${path}`);
    return [answer.status, await answer.text()];
  };

  it('is reported with the address that it listens on', async () => {
    const options = { port: 0, metrics: createMetrics(), checks: [] };
    const everywhere = await startHealthServer({ ...options, host: '0.0.0.0' });
    expect(everywhere.url).to.match(/^http:\/\/0\.0\.0\.0:[1-9]\d+$/);
    await everywhere.close();
  });

  it('is healthy if all checks are', async () => {
    expect(await get('/healthz')).to.deep.equal([200, 'ok']);
    expect(await get('/readyz')).to.deep.equal([200, 'ok']);
  });

  it('RUN-124: is alive but not ready while a source is not synced, and names it', async () => {
    troubles = { sources: 'widgets.example.io is not synced' };
    expect(await get('/healthz')).to.deep.equal([200, 'ok']);
    const [status, text] = await get('/readyz');
    expect(status).to.equal(503);
    expect(text)
      .to.contain('[-]sources failed: widgets.example.io is not synced')
      .and.contain('[+]broken ok');
  });

  it('RUN-124: is not alive if a liveness check fails', async () => {
    troubles = { loop: 'blocked' };
    expect((await get('/healthz'))[0]).to.equal(503);
    expect((await get('/readyz'))[0]).to.equal(200);
  });

  it('serves single checks', async () => {
    troubles = { sources: 'late' };
    expect(await get('/readyz/sources')).to.deep.equal([503, 'late']);
    expect(await get('/readyz/broken')).to.deep.equal([200, 'ok']);
    expect(await get('/healthz/loop')).to.deep.equal([200, 'ok']);
    expect((await get('/healthz/sources'))[0]).to.equal(404);
  });

  it('lists all checks with the verbose parameter', async () => {
    const [status, text] = await get('/readyz?verbose');
    expect([status, text]).to.deep.equal([200, '[+]sources ok\n[+]broken ok\nreadyz check passed\n']);
  });

  it('treats a check that throws as failed', async () => {
    troubles = { broken: 'yes' };
    expect(await get('/readyz/broken')).to.deep.equal([503, 'cannot tell']);
  });

  it('serves metrics', async () => {
    const [status, text] = await get('/metrics');
    expect(status).to.equal(200);
    expect(text).to.contain('things_total{sort="a"} 0');
  });

  it('refuses other methods, and names an unknown page', async () => {
    const head = await fetch(`${server?.url ?? ''}/readyz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
    expect((await fetch(`${server?.url ?? ''}/readyz`, { method: 'POST' })).status).to.equal(405);
    expect(await get('/')).to.deep.equal([404, 'there is no page /']);
    expect(await get('/metrics/a')).to.deep.equal([404, 'there is no page /metrics/a']);
  });

  it('reports in one line that the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const options = { host: '127.0.0.1', port, metrics: createMetrics(), checks: [] };
    const error = await startHealthServer(options).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(HealthPortError)
      .with.property('message')
      .that.matches(/^cannot serve .* in use$/);
    await new Promise((resolve) => other.close(resolve));
  });
});
