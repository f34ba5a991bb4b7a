/** A test of the tests: an endless loop on a clock that stands still has to fail instead of hanging. */
import { expect } from 'chai';
import { createWorld, widget, widgets } from './support/world.ts';

describe('an endless loop of a controller in a test', () => {
  it('fails with a message instead of never yielding', async () => {
    const world = createWorld();
    world.control(() => Promise.resolve({ write: 'none', requeueAfterMs: 0 }));
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(await world.end().catch(String)).to.include('goes round in circles');
  });
});
