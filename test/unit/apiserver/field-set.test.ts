import { expect } from 'chai';
import fc from 'fast-check';
import {
  difference,
  EMPTY,
  equalSets,
  intersection,
  isEmptySet,
  pathsOf,
  sortedSet,
  union,
  type FieldNode,
  type FieldSet,
} from '../../../src/apiserver/apply/field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"name":"x"}', 'v:"y"');
const { node } = fc.letrec<{ node: FieldNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constant<FieldNode>({}),
    fc
      .tuple(fc.dictionary(element, tie('node'), { minKeys: 1, maxKeys: 3 }), fc.boolean())
      .map(([below, isSelf]): FieldNode => (isSelf ? { '.': {}, ...below } : below)),
  ),
}));
const set: fc.Arbitrary<FieldSet> = fc.dictionary(element, node, { maxKeys: 3 });

const same = (a: FieldSet, b: FieldSet): void => {
  expect(pathsOf(a).sort()).to.deep.equal(pathsOf(b).sort());
  expect(equalSets(a, b)).to.equal(true);
};

describe('field sets', () => {
  it('have a union that does not depend on the order', () => {
    fc.assert(
      fc.property(set, set, set, (a, b, c) => {
        same(union(a, b), union(b, a));
        same(union(union(a, b), c), union(a, union(b, c)));
        same(union(a, a), a);
      }),
    );
  });
  it('have a union with the fields of either, and no more', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(pathsOf(union(a, b)).sort()).to.deep.equal(
          [...new Set([...pathsOf(a), ...pathsOf(b)])].sort(),
        );
      }),
    );
  });
  it('can be split into the fields that another set has and the rest', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [both, only] = [intersection(a, b), difference(a, b)];
        same(union(both, only), a);
        expect(isEmptySet(intersection(both, only))).to.equal(true);
        expect(pathsOf(both).every((path) => pathsOf(b).includes(path))).to.equal(true);
        expect(pathsOf(only).some((path) => pathsOf(b).includes(path))).to.equal(false);
      }),
    );
  });
  it('are empty after subtracting themselves', () => {
    fc.assert(
      fc.property(set, (a) => {
        expect(isEmptySet(difference(a, a))).to.equal(true);
        same(difference(a, EMPTY), a);
      }),
    );
  });
  it('are equal after sorting', () => {
    fc.assert(
      fc.property(set, (a) => {
        expect(sortedSet(a)).to.deep.equal(a);
      }),
    );
  });
  it('print paths as messages show them', () => {
    const ports = { 'k:{"containerPort":80,"protocol":"TCP"}': {}, 'v:"x"': {} };
    expect(pathsOf({ 'f:spec': { '.': {}, 'f:ports': ports } })).to.deep.equal([
      '.spec',
      '.spec.ports[containerPort=80,protocol="TCP"]',
      '.spec.ports[="x"]',
    ]);
  });
});
