/**
 * There is one algorithm of order: if its planner reverses every graph, every component that sorts objects reverses
 * its order. A second algorithm would keep the old one.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../../..');
const planner = join(root, 'test/support/planner');

type Orders = Readonly<Record<string, readonly string[]>>;

/** The orders of all components, computed in a separate process. */
function orders(isReplaced: boolean): Orders {
  const replaced = isReplaced ? ['--import', join(planner, 'replace.mjs')] : [];
  const args = [
    '--import',
    'tsx',
    '--conditions',
    'espalier-source',
    ...replaced,
    join(planner, 'everybody.ts'),
  ];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })) as Orders;
}

describe('the order of every component, with the planner and with a reversed one', function () {
  this.timeout(60_000);
  let forwards: Orders;
  let backwards: Orders;
  before(() => {
    forwards = orders(false);
    backwards = orders(true);
  });

  const kinds = ['CustomResourceDefinition', 'ClusterRole', 'ConfigMap'];
  const expected: Orders = {
    'the items of an execution, started': ['a', 'b', 'c'],
    'the items of an execution, deleted': ['c', 'b', 'a'],
    siblings: ['a', 'b', 'c'],
    'manifests, created': kinds,
    'manifests, deleted': [...kinds].reverse(),
    'dependents, reconciled': ['reconcile a', 'reconcile b', 'reconcile c'],
    'dependents, deleted': ['delete c', 'delete b', 'delete a'],
  };

  it('includes all components', () => {
    expect(Object.keys(forwards)).to.deep.equal(Object.keys(expected));
  });

  for (const [who, order] of Object.entries(expected)) {
    it(`${who}: in order, and reversed`, () => {
      expect(forwards[who]).to.deep.equal(order);
      expect(backwards[who]).to.deep.equal([...order].reverse());
    });
  }
});
