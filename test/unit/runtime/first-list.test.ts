import { expect } from 'chai';
import type { Key } from '../../../src/runtime/types.ts';
import { createWorld, nothing, widget, widgets, type World } from './support/world.ts';

const OBJECTS = 60_000;
/** Every reconcile takes this long. */
const RUN_MS = 100;

describe('RUN-122: the first list of 60 000 objects', function () {
  this.timeout(120_000);
  let world: World;
  /** Keys whose next reconcile fails. */
  let failing: Set<Key>;
  const keyOf = (i: number): Key => `space-${String(i % 50)}/object-${String(i)}`;
  const runs = (): readonly (readonly [second: number, key: Key])[] =>
    world.runs.map((run) => {
      const [second = '', key = ''] = run.split(' ');
      return [Number(second), key] as const;
    });

  before(async () => {
    world = createWorld();
    failing = new Set();
    for (let i = 0; i < OBJECTS; i++) world.cluster.put(widgets, widget(keyOf(i)));
    world.control(
      (_, { key }) =>
        new Promise((resolve, reject) => {
          world.clock.at(world.clock.now() + RUN_MS, () => {
            if (failing.delete(key)) reject(new Error('no'));
            else resolve(nothing);
          });
        }),
      { maxConcurrent: 1 },
    );
    await world.start();
  });
  after(() => world.end());

  it('is overtaken by an edit, also if its reconcile is retried after an error', async () => {
    const [[, first] = [0, '']] = runs();
    const edited = keyOf(41_234);
    failing.add(first);
    failing.add(edited);
    world.cluster.edit(widgets, edited, { spec: { size: 2 } });
    await world.clock.advance(20_000);
    const of = (key: Key): number[] => runs().flatMap(([second, each]) => (each === key ? [second] : []));
    // It failed after 0.1 s, was due a second later, and came next then.
    expect(of(edited)).to.deep.equal([0.1, 1.2]);
    expect(runs().length).to.be.greaterThan(190);
    // A key of the first list that failed as well waits behind the rest of it.
    expect(of(first)).to.deep.equal([0]);
  });
});
