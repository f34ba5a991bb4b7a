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
});
