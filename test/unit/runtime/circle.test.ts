/** A test of the tests: an endless loop on a clock that stands still has to fail instead of hanging. */
import { expect } from 'chai';
import { createWorld, nothing, widget, widgets } from './support/world.ts';

describe('an endless loop of a controller in a test', () => {
  // The clock also ends the loops of the controller's own timers, whose errors nothing awaits.
  const ignore = (): void => {};
  before(() => process.on('unhandledRejection', ignore));
  after(() => process.off('unhandledRejection', ignore));

  it('fails with a message instead of never yielding', async () => {
    const world = createWorld();
    const controller = world.control((_, { key }) => {
      controller.enqueue(key);
      return Promise.resolve(nothing);
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(await world.end().catch(String)).to.include('goes round in circles');
  });
});
