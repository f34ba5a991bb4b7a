import { expect } from 'chai';
import { standardFunctions } from '../../../../../src/templating/spiff/functions/index.ts';
import type { SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import { call, complaint, Lambda } from './support.ts';

const descending = new Lambda('lambda|a,b|->a > b', (a, b) => (a as string) > (b as string));
const difference = new Lambda('lambda|a,b|->b - a', (a, b) => (b as bigint) - (a as bigint));

describe('a lambda passed to a function of Spiff', () => {
  it('sorts by its result, true or false', () => {
    expect(call('sort', ['b', 'a', 'c'], descending)).to.deep.equal(['c', 'b', 'a']);
  });
  it('sorts by a negative number', () => {
    expect(call('sort', [1n, 3n, 2n], difference)).to.deep.equal([3n, 2n, 1n]);
  });
  it('sorts a list of any length, and keeps the order of equal elements', () => {
    const items = Array.from({ length: 100 }, (_, i): SpiffValue => [BigInt((i * 7) % 10), BigInt(i)]);
    const byFirst = new Lambda('lambda', (a, b) => (a as bigint[])[0]! < (b as bigint[])[0]!);
    const expected = [...items].sort((a, b) => Number((a as bigint[])[0]! - (b as bigint[])[0]!));
    expect(call('sort', items, byFirst)).to.deep.equal(expected);
  });
  it('is not called for a list of one element', () => {
    const never = new Lambda('lambda', () => expect.fail('asked'));
    expect(call('sort', ['a'], never)).to.deep.equal(['a']);
  });
  it('fails the sort if it returns a string', () => {
    expect(complaint('sort', ['b', 'a'], new Lambda('lambda', () => 'x'))).to.equal('sort failed');
  });
  it('does not change its input list', () => {
    const given = ['b', 'a'];
    call('sort', given);
    call('reverse', given);
    expect(given).to.deep.equal(['b', 'a']);
  });
  it('computes the replacement from the match and its groups', () => {
    const swap = new Lambda('lambda', (match) => {
      const [, a, b] = match as readonly string[];
      return `${b as string}${a as string}`;
    });
    expect(call('replace_match', 'abcd', '(.)(.)', swap)).to.equal('badc');
  });
  it('computes the replacement of a string', () => {
    const upper = new Lambda('lambda', (match) => (match as readonly string[])[0]!.toUpperCase());
    expect(call('replace', 'foo', 'o', upper)).to.equal('fOO');
  });
  it('must return a string for a replacement', () => {
    const five = new Lambda('lambda', () => 5n);
    expect(complaint('replace', 'foo', 'o', five)).to.equal('replace: replace: lambda must return a string');
  });
  it('is written as an expression in YAML and JSON', () => {
    expect(call('asyaml', descending)).to.equal('(( lambda|a,b|->a > b ))\n');
    expect(call('asjson', [difference])).to.equal('["(( lambda|a,b|-\\u003eb - a ))"]');
  });
  it('has a type and equals itself', () => {
    expect(call('type', descending)).to.equal('lambda');
    expect(call('contains', [descending], descending)).to.equal(true);
  });
});

describe('the table of Spiff functions', () => {
  it('has none that accesses processes, the environment or the disk', () => {
    const forbidden = ['env', 'exec', 'exec_uncached', 'pipe', 'pipe_uncached', 'write', 'tempfile', 'mkdir'];
    expect(Object.keys(standardFunctions)).to.not.include.members(forbidden);
    for (const name of forbidden) expect(standardFunctions).to.not.have.property(name);
  });
});
