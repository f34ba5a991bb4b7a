/** Requests of API servers to the webhook server: its answers, and how it stops. */
import { expect } from 'chai';
import { writeDeployItems, type DeployItemTemplate } from '../../../src/api/kinds/execution.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import {
  CERTIFICATES_SECRET,
  CONFIGURATION_NAME,
  configurationKind,
} from '../../../src/webhooks/configuration.ts';
import { startWebhooks, type Webhooks } from '../../../src/webhooks/index.ts';
import type { LargeItemsCheck } from '../../../src/webhooks/review.ts';
import { Secret } from '../../../src/runtime/core-kinds.ts';
import { target } from '../../support/broken.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { fakeItem, plan } from '../../support/landscape.ts';
import { eventually } from '../../support/waiting.ts';
import { ask, keptConnection } from '../../support/webhooks.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';

const name = { name: CERTIFICATES_SECRET, namespace: 'demo' };
const KEY = `demo/${CERTIFICATES_SECRET}`;

describe('a request to the webhook server', () => {
  let cluster: FakeCluster;
  let clock: FakeClock;
  let webhooks: Webhooks | undefined;
  /** The secret of the first server: new keys take a second. */
  let stored: Secret | undefined;
  beforeEach(() => {
    [cluster, clock, webhooks] = [new FakeCluster(), new FakeClock(), undefined];
    if (stored) cluster.put(Secret, { metadata: { ...name }, data: { ...stored.data } });
  });
  afterEach(async () => {
    stored ??= cluster.read(Secret, KEY);
    await webhooks?.close();
  });

  const start = async (more: object = {}): Promise<Webhooks> =>
    (webhooks = await startWebhooks({
      client: cluster,
      clock,
      log: silentLogger,
      endpoint: { url: new URL('https://127.0.0.1:0') },
      host: '127.0.0.1',
      port: 0,
      certNamespace: 'demo',
      resources: ['targets', 'executions'],
      install: true,
      ...more,
    }));
  const authority = (): string => {
    const pem = cluster.read(Secret, KEY)?.data?.['ca.crt'] ?? '';
    return Buffer.from(pem, 'base64').toString();
  };
  const post = (resource: string, body: string) =>
    ask(webhooks?.port ?? 0, authority(), 'POST', `/webhook/validate/${resource}`, body);
  const judged = async (resource: string, object: object) => {
    const request = { uid: 'u', operation: 'CREATE', namespace: 'demo', name: 'x', object };
    const { code, text } = await post(resource, JSON.stringify({ kind: 'AdmissionReview', request }));
    const { response } = JSON.parse(text) as { response: { allowed: boolean; status?: { message: string } } };
    return { code, ...response };
  };

  it('is answered by the path of its kind; other kinds have none', async () => {
    await start();
    expect(await judged('targets', target('t', {}))).to.deep.equal({ code: 200, uid: 'u', allowed: true });
    const both = await judged('targets', target('both', { config: 1, secretRef: { name: 's' } }));
    expect([both.code, both.allowed]).to.deep.equal([200, false]);
    expect((await post('installations', '{}')).code).to.equal(404);
    expect(await ask(webhooks?.port ?? 0, authority(), 'GET', '/healthz')).to.deep.equal({
      code: 200,
      text: 'Ok',
    });
  });

  for (const [what, body] of [
    ['not JSON', '{'],
    ['no AdmissionReview', '{}'],
    ['nested too deeply', '['.repeat(100_000) + ']'.repeat(100_000)],
  ] as const)
    it(`is a bad request if it is ${what}`, async () => {
      await start();
      const { code, text } = await post('targets', body);
      expect(code, text).to.equal(400);
    });

  it('with large deploy items is answered by the check that reads them elsewhere, and only of executions', async () => {
    const asked: string[] = [];
    const checkLargeItems: LargeItemsCheck = (namespace) => {
      asked.push(namespace);
      return Promise.resolve({ kind: 'wrong', message: 'no' });
    };
    await start({ checkLargeItems });
    const item = { ...fakeItem('a'), notes: 'x'.repeat(300 << 10) } as unknown as DeployItemTemplate;
    const large = { ...plan([]), spec: { ...writeDeployItems([item]) } };
    expect(await judged('executions', large)).to.deep.include({ allowed: false });
    expect(asked).to.deep.equal(['demo']);
    const leaving = { ...large, metadata: { ...large.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(await judged('executions', leaving)).to.deep.include({ allowed: true });
    await judged('targets', { ...target('t', {}), spec: large.spec });
    expect(asked).to.deep.equal(['demo']);
  });

  it('is answered while the server stops, on a connection that this response closes', async () => {
    const { port } = await start({ drainMs: 5_000 });
    const connection = keptConnection(port, authority());
    expect(await connection.ask()).to.deep.equal({ code: 200, isClosing: false });
    let isClosed = false;
    const closing = webhooks?.close().then(() => (isClosed = true));
    await settle(50);
    await eventually('it drains', async () => (await connection.ask()).isClosing);
    expect(isClosed).to.equal(false);
    await clock.advance(5_000);
    await closing;
    connection.close();
    webhooks = undefined;
    const refused: unknown = await ask(port, authority(), 'GET', '/healthz').catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'ECONNREFUSED');
  });

  it('is sent for the kinds of the configuration: without any, it is deleted; it may be left alone', async () => {
    await start();
    expect(cluster.read(configurationKind, CONFIGURATION_NAME)?.webhooks).to.have.length(2);
    await webhooks?.close();
    await start({ resources: [], install: false });
    expect(cluster.read(configurationKind, CONFIGURATION_NAME)?.webhooks).to.have.length(2);
    await webhooks?.close();
    await start({ resources: [] });
    expect(cluster.read(configurationKind, CONFIGURATION_NAME)).to.equal(undefined);
  });
});
