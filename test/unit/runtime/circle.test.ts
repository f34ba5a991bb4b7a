/** The tests themselves: what goes round in circles on a clock that stands still has to fail, and not to hang. */
import { expect } from 'chai';
import { createWorld, widget, widgets } from './support/world.ts';

describe('a controller that goes round in circles in a test', () => {
  it('fails with a sentence instead of never giving way', async () => {
    const world = createWorld();
    world.control(() => Promise.resolve({ write: 'none', requeueAfterMs: 0 }));
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(await world.end().catch(String)).to.include('goes round in circles');
  });
});
