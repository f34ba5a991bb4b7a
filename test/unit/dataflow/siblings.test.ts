import { expect } from 'chai';
import {
  ambiguousImports,
  cycleThrough,
  cycleText,
  duplicateExports,
  duplicatesText,
  findCycle,
  ordered,
  predecessorsOf,
  siblingOf,
  successorsOf,
  successorsOutsideCycles,
  type Sibling,
} from '../../../src/dataflow/siblings.ts';
import { dependencyGraph } from '../../../src/blueprint/dependencies.ts';
import { installation } from './given.ts';

/** A sibling with these imports and exports. */
const sibling = (name: string, takes: readonly string[] = [], gives: readonly string[] = []): Sibling => ({
  name,
  imports: { data: takes.map((dataRef) => ({ name: `in-${dataRef}`, dataRef })) },
  exports: { data: gives.map((dataRef) => ({ name: `out-${dataRef}`, dataRef })) },
});
const names = (siblings: readonly Sibling[]): readonly string[] => siblings.map(({ name }) => name);

describe('predecessors and successors', () => {
  const a = sibling('a', [], ['x']);
  const b = sibling('b', ['x'], ['y']);
  const c = sibling('c', ['x', 'y']);
  const all = [c, b, a];

  it('are direct neighbours only, in the given order', () => {
    expect(names(predecessorsOf(c, all))).to.deep.equal(['b', 'a']);
    expect(names(successorsOf(a, all))).to.deep.equal(['c', 'b']);
    expect(names(predecessorsOf(a, all))).to.deep.equal([]);
    expect(names(successorsOf(c, all))).to.deep.equal([]);
  });

  it('never include the installation itself', () => {
    const self = sibling('self', ['own'], ['own']);
    expect(predecessorsOf(self, [self])).to.deep.equal([]);
    expect(successorsOf(self, [self])).to.deep.equal([]);
  });

  const exporter: Sibling = { name: 'e', exports: { targets: [{ name: 't', target: 'made' }] } };
  const forms: readonly [string, NonNullable<NonNullable<Sibling['imports']>['targets']>[number], boolean][] =
    [
      ['a target', { name: 't', target: 'made' }, true],
      ['a list of targets', { name: 't', targets: ['other', 'made'] }, true],
      ['a map of targets', { name: 't', targetMap: { red: 'made' } }, true],
      ['a reference to a list of the parent', { name: 't', targetListRef: 'made' }, false],
      ['a reference to a map of the parent', { name: 't', targetMapRef: 'made' }, false],
    ];
  for (const [title, entry, isEdge] of forms) {
    it(`${isEdge ? 'are' : 'are not'} related by ${title}, seen from both sides`, () => {
      const importer: Sibling = { name: 'i', imports: { targets: [entry] } };
      expect(predecessorsOf(importer, [exporter])).to.have.lengthOf(isEdge ? 1 : 0);
      expect(successorsOf(exporter, [importer])).to.have.lengthOf(isEdge ? 1 : 0);
    });
  }

  it('do not confuse data with targets of the same name', () => {
    const importer: Sibling = { name: 'i', imports: { targets: [{ name: 't', target: 'x' }] } };
    expect(predecessorsOf(importer, [a])).to.deep.equal([]);
  });
});

describe('names that are exported twice', () => {
  const all = [sibling('a', [], ['x']), sibling('b', [], ['x', 'y']), sibling('c', ['y'])];

  it('are listed with their exporters', () => {
    expect(duplicateExports(all)).to.deep.equal([{ kind: 'data', ref: 'x', exporters: ['a', 'b'] }]);
    expect(duplicatesText(duplicateExports(all))).to.equal(
      "the following exports are exported by multiple nested installations:\n'x' is exported by [a, b]",
    );
  });

  it('matter to an installation only if it imports them', () => {
    expect(ambiguousImports(sibling('c', ['y']), all)).to.deep.equal([]);
    expect(ambiguousImports(sibling('d', ['x']), all)).to.have.lengthOf(1);
  });

  it('do not count the installation itself', () => {
    const self = sibling('a', ['x'], ['x']);
    expect(ambiguousImports(self, [self, sibling('b', [], ['x'])])).to.deep.equal([]);
  });
});

describe('a cycle of siblings', () => {
  it('is shown as a chain that ends where it began', () => {
    const cycle = findCycle([sibling('a', ['fromB'], ['fromA']), sibling('b', ['fromA'], ['fromB'])]);
    expect(cycleText(cycle ?? [])).to.equal('a -{depends_on}-> b -{depends_on}-> a');
  });

  it('may be one that imports its own export', () => {
    expect(findCycle([sibling('a', ['own'], ['own'])])).to.deep.equal(['a', 'a']);
  });

  it('has no order', () => {
    expect(() => ordered([sibling('a', ['a'], ['a'])])).to.throw(RangeError, 'a -{depends_on}-> a');
  });

  it('does not exist in a chain, which has an order', () => {
    const chain = [sibling('c', ['y']), sibling('b', ['x'], ['y']), sibling('a', [], ['x'])];
    expect(findCycle(chain)).to.equal(undefined);
    expect(names(ordered(chain))).to.deep.equal(['a', 'b', 'c']);
  });
});

describe('the graph of siblings', () => {
  it('is not larger than their imports and exports, even if all import what all export', () => {
    const all = Array.from({ length: 1000 }, (_, i) => sibling(`s${i}`, ['x'], ['x']));
    const edges = [...dependencyGraph(all).values()].reduce((sum, needs) => sum + needs.length, 0);
    expect(edges).to.equal(2000);
    expect(findCycle(all)).to.deep.equal(['s0', 's0']);
    expect(cycleThrough(all[7]!, all)).to.deep.equal(['s7', 's7']);
  });

  it('does not confuse a sibling with a name', () => {
    const siblings = [sibling('data/x', ['y']), sibling('b', ['x'], ['y']), sibling('c', [], ['x'])];
    expect(findCycle(siblings)).to.equal(undefined);
    expect(names(ordered(siblings))).to.deep.equal(['c', 'b', 'data/x']);
  });

  it('shows only siblings of a long cycle that others need, or that needs others', () => {
    const length = 700;
    const long = Array.from({ length }, (_, i) =>
      sibling(`s${i}`, [`d${(i + 1) % length}`, ...(i === 5 ? ['first'] : [])], [`d${i}`]),
    );
    const cycle = findCycle([sibling('after', ['d3']), ...long, sibling('before', [], ['first'])]);
    expect(cycle).to.have.lengthOf(length + 1);
    expect(cycle?.[0]).to.equal(cycle?.at(-1));
    expect(new Set(cycle)).to.deep.equal(new Set(names(long)));
  });
});

describe('an installation among its siblings', () => {
  it('is described by its name, its imports and its exports', () => {
    const imports = { data: [{ name: 'in', dataRef: 'x' }] };
    const exports = { targets: [{ name: 'out', target: 'y' }] };
    expect(siblingOf(installation('a', { imports, exports }))).to.deep.equal({ name: 'a', imports, exports });
  });
});

describe('a cycle through an installation', () => {
  const a = sibling('a', ['z'], ['x']);
  const b = sibling('b', ['x'], ['y']);
  const c = sibling('c', ['y'], ['z']);

  it('begins and ends with it', () => {
    expect(new Set(cycleThrough(a, [b, c]))).to.deep.equal(new Set(['a', 'b', 'c']));
    expect(cycleThrough(a, [b, c])?.[0]).to.equal('a');
    expect(cycleThrough(a, [b, c])?.at(-1)).to.equal('a');
  });

  it('is not reported for an installation that only waits for a cycle, or that a cycle waits for', () => {
    expect(cycleThrough(sibling('after', ['x']), [a, b, c])).to.equal(undefined);
    expect(cycleThrough(sibling('before', [], ['w']), [a, sibling('b', ['x', 'w'], ['y']), c])).to.equal(
      undefined,
    );
    expect(cycleThrough(sibling('between', ['x'], ['w']), [a, b, c])).to.equal(undefined);
  });
});

describe('the successors that can wait for an installation', () => {
  it('are all of them if there is no cycle', () => {
    const a = sibling('a', [], ['x']);
    expect(names(successorsOutsideCycles(a, [sibling('b', ['x']), sibling('c')]))).to.deep.equal(['b']);
    expect(successorsOutsideCycles(sibling('c'), [a])).to.deep.equal([]);
  });

  it('exclude those that it needs itself, directly or through others', () => {
    const a = sibling('a', ['z'], ['x']);
    const siblings = [sibling('b', ['x'], ['y']), sibling('c', ['y'], ['z']), sibling('d', ['x'])];
    expect(names(successorsOutsideCycles(a, siblings))).to.deep.equal(['d']);
  });
});
