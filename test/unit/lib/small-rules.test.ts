/** Rules of small helpers that nothing near them tests: orders, limits and what counts as empty. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import { Closing } from '../../../src/lib/closing.ts';
import { connectionCode } from '../../../src/lib/connection.ts';
import { parseCron } from '../../../src/lib/cron.ts';
import { cutBetweenWords, cutMiddle } from '../../../src/lib/cut.ts';
import { isGzip } from '../../../src/lib/gzip.ts';
import { equal } from '../../../src/lib/json.ts';
import { outlookOf } from '../../../src/lib/outlook.ts';
import { readTar, writeTar } from '../../../src/lib/tar.ts';

describe('what is closed together', () => {
  it('is closed once, the last first, after the signal was aborted', async () => {
    const closing = new Closing();
    const order: string[] = [];
    for (const name of ['client', 'server'])
      closing.add(() => Promise.resolve(void order.push(`${name} ${String(closing.signal.aborted)}`)));
    await Promise.all([closing.close(), closing.close()]);
    expect(order).to.deep.equal(['server true', 'client true']);
  });
});

describe('several errors together', () => {
  it('have the code of the first; without any, their own', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(connectionCode(new AggregateError([refused, new Error('y')]))).to.equal('ECONNREFUSED');
    expect(connectionCode(Object.assign(new AggregateError([], 'none'), { code: 'EMPTY' }))).to.equal(
      'EMPTY',
    );
  });

  it('have the worst outlook; without any, that of their cause', () => {
    const final = Object.assign(new Error('x'), { outlook: 'final' });
    expect(outlookOf(new AggregateError([new Error('y'), final]))).to.equal('final');
    expect(outlookOf(new AggregateError([], 'none', { cause: final }))).to.equal('final');
  });
});

describe('shares of a byte budget', () => {
  it('may use it up to the last byte, and count until they are all released', () => {
    const budget = new ByteBudget(10);
    const [first, second] = [budget.takeNow(5, 'a'), budget.takeNow(5, 'b')];
    expect([first, second, budget.takeNow(1, 'c')].map((each) => each !== undefined)).to.deep.equal([
      true,
      true,
      false,
    ]);
    first?.release();
    first?.release();
    second?.release();
    const [half, more] = [budget.takeNow(3, 'a'), budget.takeNow(2, 'a')];
    half?.release();
    expect(budget.takeNow(4, 'a'), 'two of five bytes are still held').to.equal(undefined);
    more?.release();
    expect(budget.takeNow(10, 'a')).to.not.equal(undefined);
  });
});

describe('a string that is cut', () => {
  it('stays as it is up to the limit', () => {
    for (const cut of [cutMiddle, cutBetweenWords]) {
      expect(cut('abcdef ghijkl', 13)).to.equal('abcdef ghijkl');
      expect(cut('abcdef ghijkl', 12)).to.contain(' … ');
    }
  });
});

describe('a schedule', () => {
  for (const text of ['', '* * * *', '* * * * * *'])
    it(`has five fields, not as "${text}"`, () => {
      expect(() => parseCron(text)).to.throw('expected exactly 5 fields');
    });
});

describe('the form of data', () => {
  it('is compressed only if both of its first bytes say so', () => {
    expect(isGzip(gzipSync('x'))).to.equal(true);
    expect([
      isGzip(Buffer.from([0x1f, 0])),
      isGzip(Buffer.from([0, 0x8b])),
      isGzip(Buffer.alloc(0)),
    ]).to.deep.equal([false, false, false]);
  });

  it('in a tar header may have binary numbers, as large files do', () => {
    const archive = Buffer.from(writeTar([['a', Buffer.from('content')]]));
    archive.fill(0, 124, 136);
    archive[124] = 0x80;
    archive[135] = 7;
    archive.fill(0x20, 148, 156);
    const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    expect(
      [...readTar(archive)].map(({ path, content }) => [path, Buffer.from(content).toString()]),
    ).to.deep.equal([['a', 'content']]);
  });

  it('is the same only if both are objects, or both are not', () => {
    expect([equal({}, 'x'), equal('x', {}), equal({ a: {} }, { a: 1 }), equal(null, {})]).to.deep.equal(
      Array(4).fill(false),
    );
  });
});
