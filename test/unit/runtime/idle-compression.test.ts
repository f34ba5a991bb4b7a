import { expect } from 'chai';
import { IdleCompression, MAX_UNCOMPRESSED, ROUND_MS } from '../../../src/runtime/cache/idle-compression.ts';
import { FakeClock } from '../../support/clock.ts';

/** A store of which each step of a round compresses one object. */
class CountingStore {
  size: number;
  compressed = 0;
  rounds = 0;
  readonly #onStep: () => void;

  constructor(size: number, onStep: () => void = () => undefined) {
    this.size = size;
    this.#onStep = onStep;
  }

  *compressIdle(): Generator<void> {
    this.rounds++;
    for (let i = 0; i < 10; i++) {
      this.compressed++;
      this.#onStep();
      yield;
    }
  }
}

describe('the compression of idle objects', () => {
  const create = (size: number, onStep?: () => void) => {
    const clock = new FakeClock();
    const store = new CountingStore(size, onStep);
    const life = new AbortController();
    const compression = new IdleCompression(store, clock);
    return { clock, store, life, compression };
  };

  it('leaves a small cache alone, without a timer', async () => {
    const { clock, store, life, compression } = create(MAX_UNCOMPRESSED);
    compression.start(life.signal);
    compression.consider();
    expect(clock.pending).to.equal(0);
    await clock.advance(10 * ROUND_MS);
    expect(store.rounds).to.equal(0);
  });

  it('begins when the cache has grown, and ends when enough is compressed', async () => {
    const { clock, store, life, compression } = create(0);
    compression.start(life.signal);
    store.size = MAX_UNCOMPRESSED + 15;
    compression.consider();
    compression.consider();
    await clock.advance(ROUND_MS);
    expect(store.rounds).to.equal(1);
    await clock.advance(10 * ROUND_MS);
    expect(store.rounds).to.equal(2);
    expect(clock.pending).to.equal(0);
  });

  it('pauses so that it uses a fifth of the time', async () => {
    let now = 0;
    const { clock, store, life } = create(MAX_UNCOMPRESSED + 1, () => (now += 2));
    const compression = new IdleCompression(store, {
      now: () => clock.now() + now,
      wall: () => clock.wall(),
      at: (when, fn) => clock.at(when - now, fn),
    });
    compression.start(life.signal);
    await clock.advance(ROUND_MS);
    expect(store.compressed).to.equal(2);
    await clock.advance(15);
    expect(store.compressed).to.equal(2);
    await clock.advance(1);
    expect(store.compressed).to.equal(4);
  });

  it('stops with the cache', async () => {
    const { clock, store, life, compression } = create(MAX_UNCOMPRESSED + 1);
    compression.start(life.signal);
    await clock.advance(1);
    life.abort(new Error('stopped'));
    await clock.advance(ROUND_MS);
    compression.consider();
    expect(store.rounds).to.equal(0);
    expect(clock.pending).to.equal(0);
  });
});
