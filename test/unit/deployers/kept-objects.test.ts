import { expect } from 'chai';
import { KeptObjects, MAX_KEPT_VALUES, valuesIn } from '../../../deployers/objects/manifests/kept-objects.ts';

describe('the responses of a target that a job caches', () => {
  for (const [value, count] of [
    [null, 1],
    ['', 1],
    ['x'.repeat(640), 11],
    [[], 1],
    [[1, [2, {}]], 5],
    [{ metadata: { name: 'a', labels: {} }, data: { x: '1' } }, 6],
  ] as const) {
    it(`have ${String(count)} values for ${JSON.stringify(value).slice(0, 60)}`, () => {
      expect(valuesIn(value, 1_000)).to.equal(count);
    });
  }

  it('are counted no further than necessary', () => {
    const wide = Array.from({ length: 100_000 }, () => ({}));
    expect(valuesIn(wide, 10)).to.equal(11);
    let deep: unknown = 'end';
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(valuesIn(deep, Infinity)).to.equal(100_001);
  });

  it('are those that fit, in the order in which they arrive', () => {
    const kept = new KeptObjects();
    const half = Array.from({ length: MAX_KEPT_VALUES / 2 }, () => 0);
    expect(kept.admits(half)).to.equal(true);
    expect(kept.admits(half), 'one value too many').to.equal(false);
    expect(kept.admits({ metadata: { name: 'small' } })).to.equal(true);
    expect(kept.admits('x'.repeat(16 * 2 ** 20))).to.equal(false);
  });
});
