import { expect } from 'chai';
import { createMemories } from '../../../../deployers/sdk/memory.ts';
import { item, running } from '../../../support/given.ts';

describe('the memory of jobs', () => {
  it('does not grow with items that were ended or deleted elsewhere', () => {
    const open = new Set<string>();
    const memories = createMemories((key) => open.has(key));
    for (let i = 0; i < 1000; i++)
      memories.of(`demo/${String(i)}`, item('plan', String(i), running('j1')), 'apply');
    expect(memories.size).to.be.lessThan(100);
  });

  it('lasts as long as the job does', () => {
    const memories = createMemories(() => true);
    const one = item('plan', 'one', running('j1'));
    const memory = memories.of('demo/one', one, 'apply');
    for (let i = 0; i < 1000; i++)
      memories.of(`demo/${String(i)}`, item('plan', String(i), running('j1')), 'apply');
    expect(memories.of('demo/one', one, 'apply')).to.equal(memory);
  });
});
