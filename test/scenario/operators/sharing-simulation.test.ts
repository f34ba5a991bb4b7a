/** Replicas that share the work, under faults, crashes and random interleavings. */
import { expect } from 'chai';
import { simulate } from '../../../src/testing/index.ts';
import { sharedPages } from '../../support/shared-pages.ts';

describe('replicas that share the work, simulated', function () {
  this.timeout(300_000);

  it('reconcile each object in one of them at a time, write only what is theirs, and miss no change', async () => {
    expect(await simulate(() => sharedPages(3), { seeds: 4 })).to.be.greaterThan(1_000);
  });
});
