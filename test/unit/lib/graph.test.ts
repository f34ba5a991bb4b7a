import { expect } from 'chai';
import * as fc from 'fast-check';
import { dependencyOrder, shortestCycle } from '../../../src/lib/graph.ts';

const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));

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

  it('may be a node that depends on itself', () => {
    expect(shortestCycle(graph({ a: ['a'] }))).to.deep.equal(['a', 'a']);
  });

  it('does not exist in a diamond', () => {
    expect(shortestCycle(graph({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }))).to.equal(undefined);
  });
});
