import { expect } from 'chai';
import { TreeBudget } from '../../../src/cli/tree/budget.ts';

describe('the budget of a traversed tree', () => {
  it('ends below the last level, counted from the root of the tree', () => {
    expect(new TreeBudget({ treeDepth: 3, treeObjects: 10 }).checkDepth(3)).to.equal(undefined);
    const below = new TreeBudget({ treeDepth: 3, treeObjects: 10 }, 1);
    expect(below.checkDepth(2)).to.equal(undefined);
    expect(below.checkDepth(3))
      .to.contain('level 4')
      .and.contain('at most 3')
      .and.contain('limits.treeDepth');
  });

  it('limits the number of installations, executions and deploy items, and reports it once', () => {
    const budget = new TreeBudget({ treeDepth: 3, treeObjects: 5 });
    expect(budget.count(0)).to.equal(undefined);
    expect(budget.count(2), 'itself, its execution and two items').to.equal(undefined);
    expect(budget.isSpent).to.equal(false);
    expect(budget.count(0)).to.contain('more than 5 objects').and.contain('limits.treeObjects');
    expect(budget.isSpent).to.equal(true);
    expect(budget.count(0)).to.equal(undefined);
  });
});
