import { expect } from 'chai';
import * as fc from 'fast-check';
import { dependenciesBelow, dependencyOrder, shortestCycle } from '../../../src/lib/graph.ts';

const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));

/** Counts how often the dependencies of a node are read. */
class Counted extends Map<string, readonly string[]> {
  reads = 0;

  override get(node: string): readonly string[] | undefined {
    this.reads++;
    return super.get(node);
  }
}

/** How often sets are asked for a member meanwhile. */
function lookupsDuring(run: () => void): number {
  const { has } = Set.prototype;
  let lookups = 0;
  Set.prototype.has = function (this: Set<unknown>, value) {
    lookups++;
    return has.call(this, value);
  };
  try {
    run();
  } finally {
    Set.prototype.has = has;
  }
  return lookups;
}

/** Each node depends on the previous one, and the first on the last. */
const ring = (length: number): Counted =>
  new Counted(Array.from({ length }, (_, i) => [`n${i}`, [`n${(i + length - 1) % length}`]]));

describe('the order of dependencies', () => {
  it('puts dependencies first and keeps the given order otherwise', () => {
    const { order, blocked } = dependencyOrder(graph({ c: ['a'], b: [], a: [], d: ['c', 'b'] }));
    expect(order).to.deep.equal(['b', 'a', 'c', 'd']);
    expect(blocked).to.deep.equal([]);
  });

  it('reports nodes in a cycle and those that depend on one', () => {
    const { order, blocked } = dependencyOrder(graph({ a: ['b'], b: ['a'], c: ['b'], d: [] }));
    expect(order).to.deep.equal(['d']);
    expect(blocked).to.deep.equal(['a', 'b', 'c']);
  });

  it('ignores unknown and duplicate dependencies', () => {
    expect(dependencyOrder(graph({ a: ['zz', 'b', 'b'], b: [] })).order).to.deep.equal(['b', 'a']);
  });

  it('takes work for each dependency, not for each node and each step', () => {
    const chain = ring(2000);
    chain.set('n0', []);
    let order: readonly string[] = [];
    const lookups = lookupsDuring(() => ({ order } = dependencyOrder(chain)));
    expect(order).to.have.lengthOf(2000);
    expect(order[1999]).to.equal('n1999');
    expect(lookups).to.be.at.most(10 * 2000);
  });

  it('never puts a node before its dependency', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f'];
    const edges = fc.array(fc.tuple(fc.nat(5), fc.nat(5)));
    fc.assert(
      fc.property(edges, (pairs) => {
        const needs = graph(Object.fromEntries(nodes.map((n) => [n, [] as string[]])));
        for (const [from, to] of pairs) needs.set(nodes[from]!, [...needs.get(nodes[from]!)!, nodes[to]!]);
        const { order, blocked } = dependencyOrder(needs);
        expect([...order, ...blocked].sort()).to.deep.equal(nodes);
        for (const node of order) {
          for (const need of needs.get(node)!)
            expect(order.indexOf(need)).to.be.lessThan(order.indexOf(node));
        }
        expect(shortestCycle(needs) === undefined).to.equal(blocked.length === 0);
      }),
    );
  });
});

describe('the shortest cycle', () => {
  it('is found among longer ones', () => {
    expect(shortestCycle(graph({ a: ['b'], b: ['c'], c: ['a', 'd'], d: ['c'] }))).to.deep.equal([
      'c',
      'd',
      'c',
    ]);
  });

  it('is some cycle if the graph is too large to compare all', () => {
    const large = ring(120_000);
    const cycle = shortestCycle(large);
    expect(cycle).to.have.lengthOf(120_001);
    expect(cycle?.[0]).to.equal(cycle?.at(-1));
    expect(new Set(cycle)).to.have.property('size', 120_000);
    expect(large.reads).to.be.at.most(800_000);
  });

  it('is not compared with all others if they are many', () => {
    const many = ring(3000);
    expect(shortestCycle(many)).to.have.lengthOf(3001);
    expect(many.reads).to.be.at.most(150_000);
  });

  it('may be a node that depends on itself', () => {
    expect(shortestCycle(graph({ a: ['a'] }))).to.deep.equal(['a', 'a']);
  });

  it('does not exist in a diamond', () => {
    expect(shortestCycle(graph({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }))).to.equal(undefined);
  });
});

describe('all dependencies of a node', () => {
  it('include those of others, and the node itself only in a cycle', () => {
    const needs = graph({ a: ['b'], b: ['c', 'x'], c: ['b'], d: ['a'] });
    expect([...dependenciesBelow(needs, 'a')].sort()).to.deep.equal(['b', 'c', 'x']);
    expect([...dependenciesBelow(needs, 'b')].sort()).to.deep.equal(['b', 'c', 'x']);
  });
});
