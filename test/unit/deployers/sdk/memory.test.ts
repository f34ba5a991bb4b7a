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

  it('is checked once for every 64 new ones, or once it has doubled', () => {
    const checks: number[] = [];
    let open = new Set<string>();
    const memories = createMemories((key) => {
      checks[checks.length - 1] = (checks.at(-1) ?? 0) + 1;
      return open.has(key);
    });
    const add = (from: number, to: number): void => {
      for (let i = from; i < to; i++) {
        checks.push(0);
        memories.of(`demo/${String(i)}`, item('plan', String(i), running('j1')), 'apply');
      }
    };
    const sweeps = () => checks.map((count, i) => [i, count]).filter(([, count]) => count !== 0);
    add(0, 128);
    expect(sweeps()).to.deep.equal([[64, 64]]);
    open = new Set(Array.from({ length: 400 }, (_, i) => `demo/${String(i)}`));
    add(128, 300);
    expect(sweeps().slice(1)).to.deep.equal([
      [128, 64],
      [192, 128],
    ]);
  });
});
