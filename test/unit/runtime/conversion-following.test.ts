/** The conversions of an operator whose definition is not installed yet, or is installed again. */
import { expect } from 'chai';
import { backups, conversion, crd } from '../../../docs/samples/operators/backup/kind.ts';
import { startLocalApiServer, type LocalApiServer } from '../../../src/apiserver/local.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { serveConversions } from '../../../src/runtime/conversion/serve.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { localConnection } from '../../../src/testing/cluster/local-connection.ts';
import { FakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/waiting.ts';

const KEY = crd.metadata.name;

describe('conversions follow their definition', () => {
  const clock = new FakeClock();
  const rng = seededRng(1);
  let api: LocalApiServer;
  let user: Client;
  /** Of the operator, such as `GET /api/v1/…`. */
  let requests: string[];
  let conversions: Awaited<ReturnType<typeof serveConversions>>;
  let start: () => Promise<typeof conversions>;
  beforeEach(async () => {
    api = await startLocalApiServer({ clock, rng });
    user = createClient(localConnection(api, 'user', clock));
    requests = [];
    const connection = localConnection(api, 'operator', clock);
    const client = createClient({
      ...connection,
      request(request) {
        requests.push(`${request.method} ${request.path}`);
        return connection.request(request);
      },
      stream(request) {
        requests.push(`${request.method} ${request.path}`);
        return connection.stream(request);
      },
    });
    start = () =>
      serveConversions(
        {
          conversions: [conversion],
          endpoint: { url: 'https://127.0.0.1:0' },
          listen: { host: '127.0.0.1', port: 0 },
        },
        { client, clock, rng, log, name: 'backup-operator', namespace: 'default' },
      );
    conversions = await start();
  });
  afterEach(async () => {
    await conversions.close();
    api.close();
  });

  const install = () => user.send({ verb: 'create', kind: CustomResourceDefinition, object: crd as never });
  const address = async (): Promise<unknown> => {
    const { spec } = await user.get(CustomResourceDefinition, KEY);
    const { webhook } = spec.conversion as { webhook: { clientConfig: { url?: string } } };
    return webhook.clientConfig.url;
  };
  const takeAway = () => {
    const clientConfig = { url: 'https://elsewhere.example.org/' };
    const body = { spec: { conversion: { webhook: { clientConfig } } } };
    return user.send({ verb: 'merge', kind: CustomResourceDefinition, key: KEY, body });
  };
  const expected = (): string =>
    `https://127.0.0.1:${String(conversions.port)}/convert/${backups.plural}.${backups.group}`;
  const isWatch = (request: string): boolean => request.includes('watch=');

  it('is watched while it is missing, without other requests, and used as soon as it exists', async () => {
    await eventually('the watch is open', () => requests.some(isWatch));
    const before = requests.length;
    await clock.advance(4 * 60_000);
    expect(requests.slice(before)).to.deep.equal([]);
    await install();
    await eventually('the definition has the address', async () => (await address()) === expected());
    expect(requests.filter((each) => each.startsWith('PATCH'))).to.have.length(1);
  });

  it('is read once when the operator starts, and not again for its own change', async () => {
    await conversions.close();
    await install();
    requests.length = 0;
    conversions = await start();
    await eventually('the watch is open', () => requests.some(isWatch));
    await clock.advance(1_000);
    const sent = requests.filter((each) => each.includes(`/${KEY}`)).map((each) => each.split(' ')[0]);
    expect(sent).to.deep.equal(['GET', 'PATCH']);
  });

  it('is corrected at once when another client has changed it', async () => {
    await install();
    await eventually('the definition has the address', async () => (await address()) === expected());
    await takeAway();
    await eventually('the address is back', async () => (await address()) === expected());
  });

  it('is corrected more and more slowly while another client changes it back', async () => {
    await install();
    const isOurs = async () => (await address()) === expected();
    await eventually('the definition has the address', isOurs);
    await takeAway();
    await eventually('the address is back', isOurs);
    for (const pauseMs of [1_000, 2_000, 4_000]) {
      await takeAway();
      await clock.advance(pauseMs * 0.5);
      expect(await isOurs()).to.equal(false);
      await clock.advance(pauseMs * 0.7);
      await eventually('the address is back', isOurs);
    }
  });
});
