import { expect } from 'chai';
import { TreeBudget } from '../../../src/cli/tree/budget.ts';

describe('the budget of a traversed tree', () => {
  const limits = { treeDepth: 3, treeObjects: 10, treeRecursion: 2 };
  const named = (blueprint: string) => ({ spec: { blueprint } });

  it('ends below the last level, counted from the root of the tree', () => {
    expect(new TreeBudget(limits).checkLevel(named('d'), [named('b'), named('c')])).to.equal(undefined);
    const below = new TreeBudget(limits, 1);
    expect(below.checkLevel(named('c'), [named('b')])).to.equal(undefined);
    expect(below.checkLevel(named('d'), [named('b'), named('c')]))
      .to.contain('level 4')
      .and.contain('at most 3')
      .and.contain('limits.treeDepth');
  });

  it('ends where a blueprint renders itself too often', () => {
    const budget = new TreeBudget({ ...limits, treeDepth: 30 });
    const above = [named('a'), named('b'), named('a')];
    expect(budget.checkLevel(named('a'), above)).to.equal(undefined);
    expect(budget.checkLevel(named('a'), [...above, named('a')]))
      .to.contain('3 installations above')
      .and.contain('at most 2')
      .and.contain('limits.treeRecursion');
  });

  it('limits the number of installations, executions and deploy items, and reports it once', () => {
    const budget = new TreeBudget({ ...limits, treeObjects: 5 });
    expect(budget.count(0)).to.equal(undefined);
    expect(budget.count(2), 'itself, its execution and two items').to.equal(undefined);
    expect(budget.isSpent).to.equal(false);
    expect(budget.count(0)).to.contain('more than 5 objects').and.contain('limits.treeObjects');
    expect(budget.isSpent).to.equal(true);
    expect(budget.count(0)).to.equal(undefined);
  });
});
