import { expect } from 'chai';
import { RateLimiter, TokenBucket, TokenBuckets } from '../../../src/runtime/queue/rate-limit.ts';
import { FAILURE_MS, HEAVY_MS, Usage, WINDOW_MS } from '../../../src/runtime/queue/usage.ts';

describe('the rate limit of reconciles', () => {
  it('admits a number of reconciles of a key in a window, and tells the others when it ends', () => {
    const limiter = new RateLimiter({ reconciles: 2, perMs: 1_000 });
    const waits = [100, 200, 300, 1_049, 1_051, 1_099].map((now) => limiter.acquire('a', now));
    expect(waits).to.deep.equal([0, 0, 800, 51, 50, 50]);
    expect(limiter.acquire('b', 300)).to.equal(0);
    expect([1_100, 1_200, 1_300].map((now) => limiter.acquire('a', now))).to.deep.equal([0, 0, 800]);
  });

  it('has windows of ten seconds', () => {
    const limiter = new RateLimiter({ reconciles: 1 });
    expect([0, 0, 9_000, 10_000].map((now) => limiter.acquire('a', now))).to.deep.equal([
      0, 10_000, 1_000, 0,
    ]);
  });

  it('starts again for a key that was forgotten', () => {
    const limiter = new RateLimiter({ reconciles: 1 });
    limiter.acquire('a', 0);
    limiter.forget('a');
    expect(limiter.acquire('a', 1)).to.equal(0);
  });

  it('keeps the windows that have not ended when it cleans up', () => {
    const limiter = new RateLimiter({ reconciles: 1, perMs: 1_000 });
    for (let i = 0; i < 999; i++) limiter.acquire(`old ${String(i)}`, 0);
    limiter.acquire('young', 500);
    limiter.acquire('another', 1_200);
    expect(limiter.acquire('young', 1_200)).to.equal(300);
    expect(limiter.acquire('old 1', 1_200)).to.equal(0);
  });
});

describe('a token bucket', () => {
  it('admits a burst at once, and the rest at its rate', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 });
    expect([0, 0, 0, 0].map((now) => bucket.reserve(now))).to.deep.equal([0, 0, 100, 200]);
    expect(bucket.reserve(200)).to.equal(100);
    expect(bucket.reserve(10_000)).to.equal(0);
    expect([10_000, 10_000].map((now) => bucket.reserve(now))).to.deep.equal([0, 100]);
  });

  it('returns a token only if there is one', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 });
    expect([0, 0, 0, 99, 100, 101, 200].map((now) => bucket.tryTake(now))).to.deep.equal([
      true,
      true,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  it('is full at first, and again once its tokens are back', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 });
    expect(bucket.isFull(0)).to.equal(true);
    bucket.reserve(0);
    expect([0, 99, 100].map((now) => bucket.isFull(now))).to.deep.equal([false, false, true]);
  });
});

describe('the token buckets of many names', () => {
  it('do not share tokens', () => {
    const buckets = new TokenBuckets({ perSecond: 10, burst: 1 });
    expect([buckets.reserve('a', 0), buckets.reserve('a', 0), buckets.reserve('b', 0)]).to.deep.equal([
      0, 100, 0,
    ]);
    expect(buckets.size).to.equal(2);
  });

  it('forget those that are full again once there are a thousand', () => {
    const buckets = new TokenBuckets({ perSecond: 10, burst: 1 });
    for (let i = 0; i < 999; i++) buckets.reserve(`old ${String(i)}`, 0);
    buckets.reserve('young', 200);
    expect(buckets.size).to.equal(1_000);
    expect(buckets.reserve('another', 200)).to.equal(0);
    expect(buckets.size).to.equal(2);
    expect(buckets.reserve('young', 200)).to.equal(100);
  });

  it('are cleaned up no more often than their number doubles', () => {
    const buckets = new TokenBuckets({ perSecond: 10, burst: 1 });
    for (let i = 0; i < 1_500; i++) buckets.reserve(`at once ${String(i)}`, 0);
    for (let i = 0; i < 499; i++) buckets.reserve(`later ${String(i)}`, 1_000);
    expect(buckets.size).to.equal(1_999);
    buckets.reserve('last', 1_000);
    buckets.reserve('very last', 1_000);
    expect(buckets.size).to.be.below(600);
  });
});

describe('the usage of a namespace', () => {
  it('is high if it used more than its share in this window and the one before', () => {
    const usage = new Usage();
    usage.charge('a', HEAVY_MS, WINDOW_MS - 1);
    expect(usage.isHeavy('a', WINDOW_MS - 1)).to.equal(false);
    usage.charge('a', FAILURE_MS, WINDOW_MS);
    expect(usage.isHeavy('a', WINDOW_MS)).to.equal(true);
    expect(usage.isHeavy('b', WINDOW_MS)).to.equal(false);
    expect(usage.isHeavy('a', 2 * WINDOW_MS)).to.equal(false);
  });

  it('is low again after two windows, however they pass', () => {
    const usage = new Usage();
    usage.charge('a', HEAVY_MS + 1, 0);
    expect(
      [WINDOW_MS - 1, 2 * WINDOW_MS - 1, 2 * WINDOW_MS].map((now) => usage.isHeavy('a', now)),
    ).to.deep.equal([true, true, false]);
    usage.charge('a', HEAVY_MS + 1, 2 * WINDOW_MS);
    expect(usage.isHeavy('a', 4 * WINDOW_MS)).to.equal(false);
  });

  it('is not reduced if the clock goes back', () => {
    const usage = new Usage();
    usage.charge('a', HEAVY_MS + 1, 0);
    usage.charge('a', -HEAVY_MS, 0);
    usage.charge('a', NaN, 0);
    expect(usage.isHeavy('a', 0)).to.equal(true);
  });
});
