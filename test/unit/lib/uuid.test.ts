import { expect } from 'chai';
import { seededRng } from '../../../src/lib/rng.ts';
import { randomUuid } from '../../../src/lib/uuid.ts';

describe('a random UUID', () => {
  it('is of version 4 and its variant', () => {
    expect(randomUuid(seededRng(1))).to.match(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
  it('is the same for the same random numbers, and differs the next time', () => {
    const rng = seededRng(7);
    const first = randomUuid(rng);
    expect(randomUuid(seededRng(7))).to.equal(first);
    expect(randomUuid(rng)).not.to.equal(first);
  });
});
