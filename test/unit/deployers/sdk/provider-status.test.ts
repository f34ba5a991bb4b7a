/** What the SDK stores of the provider status that a plugin returns. */
import { expect } from 'chai';
import { z } from 'zod';
import { definePlugin, done, schemaCodec, wait } from '../../../../deployers/sdk/index.ts';
import { passthrough } from '../../../../deployers/sdk/codec.ts';
import { Bench } from '../bench.ts';

const TYPE = 'example.org/document';
const [V1, V2] = ['document.example.org/v1', 'document.example.org/v2'];
const status = schemaCodec('ProviderStatus', {
  [V1]: z.object({ url: z.string() }),
  [V2]: z.object({ url: z.string() }),
});

describe('a provider status', () => {
  let isDone = true;
  const seen: unknown[] = [];
  const plugin = definePlugin<unknown, { url: string } | { url: string; apiVersion: string; kind: string }>({
    type: TYPE,
    name: 'document.example.org',
    version: '1',
    config: passthrough,
    status,
    async apply({ previous, begin }) {
      seen.push(previous);
      await begin({ url: 'begun' });
      return isDone
        ? done({ status: { url: 'ended' } })
        : wait({ status: { url: 'a', apiVersion: V1, kind: 'ProviderStatus' } });
    },
    remove: () => Promise.resolve(done()),
  });
  const bench = (given: Parameters<typeof definePlugin>[0] = plugin): Bench => {
    const b = new Bench(given as never);
    b.giveItem({}, { type: TYPE, target: null, timeout: '10m' });
    return b;
  };
  beforeEach(() => {
    isDone = true;
    seen.length = 0;
  });

  it('gets apiVersion and kind of the last version, when a job begins and when it ends', async () => {
    const b = bench();
    await b.kick('j1');
    const head = { apiVersion: V2, kind: 'ProviderStatus' };
    expect(b.history.map(({ providerStatus }) => providerStatus)).to.deep.include.members([
      { ...head, url: 'begun' },
      { ...head, url: 'ended' },
    ]);
  });

  it('can be read by the next job', async () => {
    const b = bench();
    await b.kick('j1');
    await b.kick('j2');
    expect(b.status().phase).to.equal('Succeeded');
    expect(seen).to.deep.equal([undefined, { url: 'ended' }]);
  });

  it('keeps apiVersion and kind that the plugin sets', async () => {
    isDone = false;
    const b = bench();
    await b.kick('j1');
    expect(b.status().providerStatus).to.deep.equal({ url: 'a', apiVersion: V1, kind: 'ProviderStatus' });
  });

  it('is stored unchanged without a codec', async () => {
    const { status: _, ...without } = plugin;
    const b = bench(without);
    await b.kick('j1');
    expect(b.status().providerStatus).to.deep.equal({ url: 'ended' });
  });
});
