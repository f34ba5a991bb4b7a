/**
 * There is one algorithm of order: with a planner that reads graphs the wrong way round in its place, everybody who orders
 * anything does it the wrong way round. A second algorithm would stay as it is.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../../..');
const planner = join(root, 'test/support/planner');

type Orders = Readonly<Record<string, readonly string[]>>;

/** What everybody does, in a process of its own. */
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

describe('everybody who orders anything, with the planner and with one that is turned round', function () {
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

  it('is everybody', () => {
    expect(Object.keys(forwards)).to.deep.equal(Object.keys(expected));
  });

  for (const [who, order] of Object.entries(expected)) {
    it(`${who}: in order, and in the reverse`, () => {
      expect(forwards[who]).to.deep.equal(order);
      expect(backwards[who]).to.deep.equal([...order].reverse());
    });
  }
});
