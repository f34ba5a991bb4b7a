import { expect } from 'chai';
import { createContentCache } from '../../../src/components/cache.ts';

describe('the cache of fetched contents', () => {
  it('counts contents without bytes, of which a registry can have any number', async () => {
    const cache = createContentCache(64 * 2 ** 10);
    for (let i = 0; i < 1_000; i++)
      await cache.get(`repository-${String(i)}`, () => Promise.resolve(new Uint8Array(0)));
    expect(cache.facts.items).to.be.below(150);
    expect(cache.facts.size).to.be.at.most(64 * 2 ** 10);
  });

  it('does not keep the rest of the response that a content is part of', async () => {
    const cache = createContentCache(64 * 2 ** 10);
    const response = Buffer.alloc(16 * 2 ** 10);
    const content = await cache.get('a', () => Promise.resolve(response.subarray(0, 10)));
    expect(content.buffer.byteLength).to.equal(10);
  });

  it('shares a load among the calls of one namespace, but not with others, whose load may wait and fail', async () => {
    const cache = createContentCache(2 ** 20);
    let loads = 0;
    const load = () => Promise.resolve(new Uint8Array(++loads));
    const never = () => new Promise<never>(() => undefined);
    void cache.get('a', never, 'hostile');
    const [one, same] = await Promise.all([cache.get('a', load, 'own'), cache.get('a', load, 'own')]);
    expect(same).to.equal(one);
    expect(loads).to.equal(1);
  });

  it('keeps nothing without a size', async () => {
    const cache = createContentCache(0);
    let loads = 0;
    const load = () => Promise.resolve(new Uint8Array(++loads));
    await cache.get('a', load);
    await cache.get('a', load);
    expect(loads).to.equal(2);
  });
});
