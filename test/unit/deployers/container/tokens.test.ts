/** The tokens of the service accounts of a pod, and when they are renewed. */
import { expect } from 'chai';
import { ensureTokens } from '../../../../deployers/container/accounts.ts';
import type { ContainerContext } from '../../../../deployers/container/options.ts';
import type { Client } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';

describe('the tokens of a pod', () => {
  /** @param maxSeconds the maximum lifetime that the API server grants */
  const renewals = (maxSeconds: number) => {
    const clock = new FakeClock();
    const asked: number[] = [];
    const raw = (_method: string, _path: string, body: unknown): Promise<unknown> => {
      const { expirationSeconds } = (body as { spec: { expirationSeconds: number } }).spec;
      asked.push(expirationSeconds);
      const seconds = Math.min(maxSeconds, expirationSeconds);
      const expirationTimestamp = new Date(clock.wall() + seconds * 1000).toISOString();
      return Promise.resolve({ status: { token: 'x', expirationTimestamp } });
    };
    const labels = { 'container.deployer.landscaper.gardener.cloud/name': 'x' };
    const get = () => Promise.resolve({ metadata: { name: 'x', namespace: 'pods', labels } });
    const client = { raw, get, send: () => Promise.resolve({}) } as unknown as Client;
    const run = { clock, scratch: new Map<string, unknown>(), signal: new AbortController().signal };
    const owner = { item: { namespace: 'proj', name: 'web' }, namespace: 'pods', deployerId: 'd' };
    const place = { client, namespace: 'pods' };
    return {
      asked,
      clock,
      look: (leftMs: number) => ensureTokens(run as unknown as ContainerContext, place, owner, leftMs),
    };
  };

  it('last a little longer than the job, and are requested once', async () => {
    const { asked, clock, look } = renewals(Infinity);
    await look(300_000);
    await clock.advance(200_000);
    await look(100_000);
    expect(asked).to.deep.equal([1200, 1200]);
  });

  it('are renewed in time if they last less than requested', async () => {
    const { asked, clock, look } = renewals(3600);
    await look(Infinity);
    await clock.advance(2_400_000);
    await look(Infinity);
    expect(asked).to.deep.equal([86_400, 86_400]);
    await clock.advance(1_000_000);
    await look(Infinity);
    expect(asked).to.have.length(4);
  });

  describe('that are not issued', () => {
    const asked = (raw: Client['raw'], sent: unknown[] = []): Promise<unknown> => {
      const labels = { 'container.deployer.landscaper.gardener.cloud/name': 'x' };
      const get = () => Promise.resolve({ metadata: { name: 'x', namespace: 'pods', labels } });
      const send = (write: unknown) => Promise.resolve(sent.push(write));
      const client = { raw, get, send } as unknown as Client;
      const run = { clock: new FakeClock(), scratch: new Map(), signal: new AbortController().signal };
      const owner = { item: { namespace: 'proj', name: 'web' }, namespace: 'pods', deployerId: 'd' };
      const place = { client, namespace: 'pods' };
      return ensureTokens(run as unknown as ContainerContext, place, owner, 1000).then(
        () => 'issued',
        (error: unknown) => (error as Error).message,
      );
    };

    for (const [title, status] of [
      ['an empty one', { token: '' }],
      ['one that is not a string', { token: 7 }],
      ['none', {}],
    ] as const) {
      it(`because the API server sends ${title} are an error, and nothing is stored`, async () => {
        const sent: unknown[] = [];
        expect(await asked(() => Promise.resolve({ status }), sent)).to.equal(
          'the API server issued no token for pods/proj-web-init',
        );
        expect(sent).to.deep.equal([]);
      });
    }

    it('because the request fails are an error that names the account', async () => {
      expect(await asked(() => Promise.reject(new Error('refused')))).to.equal(
        'token for service account pods/proj-web-init: refused',
      );
    });

    it('are stored one for each account if they are issued', async () => {
      const sent: unknown[] = [];
      const requests: unknown[] = [];
      const issue: Client['raw'] = (_method, path, body) => {
        requests.push({ path, body });
        return Promise.resolve({ status: { token: 'x' } });
      };
      expect(await asked(issue, sent)).to.equal('issued');
      expect(requests[0]).to.deep.equal({
        path: '/api/v1/namespaces/pods/serviceaccounts/proj-web-init/token',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: 901 },
        },
      });
      const names = sent.map(
        (write) => (write as { object: { metadata: { name: string } } }).object.metadata.name,
      );
      expect(names).to.deep.equal(['proj-web-init-token', 'proj-web-wait-token']);
    });
  });
});
