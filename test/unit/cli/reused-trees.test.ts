import { expect } from 'chai';
import type { Collected } from '../../../src/cli/tree/collect.ts';
import { createTreeBuilder } from '../../../src/cli/tree/reused-trees.ts';
import { treesOf } from '../../../src/cli/tree/tree.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { collected, execution, installation, item } from './given.ts';

const PHASES = ['Init', 'Progressing', 'Succeeded', 'Failed'];

const part = (name: string, phase: string, parent?: string) => [
  installation(name, { phase, ...(parent !== undefined && { parent, template: name }) }),
  execution(name, { phase }),
  item(`${name}-item`, { execution: name, phase }),
];

describe('reused trees', () => {
  it('are those that are built from nothing, after any change', () => {
    const rng = seededRng(7);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(rng.next() * list.length)] as T;
    const names = ['a', 'b', 'c', 'd', 'e'];
    const state = new Map<string, ReturnType<typeof part>>();
    const build = createTreeBuilder();
    for (let i = 0; i < 300; i++) {
      const name = pick(names);
      const parent = pick([undefined, undefined, ...names.filter((other) => other < name)]);
      if (rng.next() < 0.2) state.delete(name);
      else state.set(name, part(name, pick(PHASES), parent));
      const objects: Collected = collected(...[...state.values()].flat().filter(() => rng.next() < 0.95));
      expect(build(objects), `step ${String(i)}`).to.deep.equal(treesOf(objects));
    }
  });

  it('are the same objects unless one of their objects has changed', () => {
    const build = createTreeBuilder();
    const [a, b] = [part('a', 'Init'), part('b', 'Init')];
    const [oldA, oldB] = build(collected(...a, ...b));
    const [newA, newB] = build(collected(...a, ...part('b', 'Succeeded')));
    expect(newA).to.equal(oldA);
    expect(newB).not.to.equal(oldB);
    expect(build(collected(...b))).to.have.length(1);
  });
});
