/** Compares what landscape tests expect with what is there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { exactDifferences, partialDifferences } from '../../../../src/cli/landscape-tests/expect/match.ts';
import { checkOrder } from '../../../../src/cli/landscape-tests/expect/order.ts';
import { checkSnapshot, snapshotFile } from '../../../../src/cli/landscape-tests/expect/snapshot.ts';
import { AnswerBook } from '../../../../src/cli/landscape-tests/stage/answers.ts';

describe('expected objects', () => {
  const rows: readonly (readonly [
    what: string,
    expected: unknown,
    actual: unknown,
    at: readonly string[],
  ])[] = [
    ['may have more fields', { a: 1 }, { a: 1, b: 2 }, []],
    [
      'have the expected values at all levels',
      { a: { b: [{ c: 1 }] } },
      { a: { b: [{ c: 2 }] } },
      ['a.b[0].c'],
    ],
    ['have lists of the same length', { a: [1] }, { a: [1, 2] }, ['a']],
    ['lack fields that are null', { a: null }, { a: 1 }, ['a']],
    ['need not have fields that are null', { a: null }, {}, []],
    ['distinguish numbers from strings', { a: '1' }, { a: 1 }, ['a']],
    ['do not have inherited fields', { toString: 1 }, {}, ['toString']],
  ];
  for (const [what, expected, actual, at] of rows)
    it(what, () => {
      expect(partialDifferences(expected, actual).map(({ path }) => path)).to.deep.equal(at);
    });

  it('are equal if all fields count', () => {
    expect(exactDifferences({ a: 1 }, { a: 1, b: 2 })).to.deep.equal([
      { path: 'b', expected: 'absent', actual: '2' },
    ]);
    expect(exactDifferences({ a: [{ b: 1 }] }, { a: [{ b: 1 }] })).to.deep.equal([]);
  });
});

describe('an expected order', () => {
  const events = ['shop/db started', 'shop/db ended', 'shop/web started', 'shop/web ended', 'shop ended'].map(
    (text) => {
      const [path = '', what = ''] = text.split(' ');
      return { path, what: what as 'started' | 'ended', atMs: 0 };
    },
  );
  it('leaves out what does not matter', () => {
    expect(checkOrder(['shop/db ended', 'shop ended'], events)).to.equal(undefined);
  });
  it('allows an entry twice if it happened twice', () => {
    expect(checkOrder(['shop ended', 'shop ended'], [...events, ...events])).to.equal(undefined);
  });
  const rows: readonly (readonly [what: string, entries: readonly string[], message: string])[] = [
    [
      'needs an event of its own for each entry',
      ['shop ended', 'shop ended'],
      '"shop ended" happened before "shop ended"',
    ],
    [
      'reports the first entry that happened too early',
      ['shop/web started', 'shop/db ended', 'shop ended'],
      '"shop/db ended" happened before "shop/web started"',
    ],
    [
      'reports what did not happen',
      ['shop/db deleted'],
      '"shop/db deleted" never happened; shop/db: started, ended',
    ],
    [
      'reports unknown paths',
      ['shop/wep ended'],
      '"shop/wep ended" never happened: there is no shop/wep; did you mean shop/web?',
    ],
  ];
  for (const [what, entries, message] of rows)
    it(what, () => {
      expect(checkOrder(entries, events)?.message).to.equal(message);
    });
});

describe('given answers', () => {
  const answered = (book: AnswerBook, path: string, jobs: string): readonly unknown[] =>
    [...jobs].map((job) => book.answerFor(path, job)?.fails ?? 'deployer');

  it('are for one job each, the last one for all further jobs', () => {
    const book = new AnswerBook();
    book.set({ 'shop/db': [{ fails: 'a' }, { fails: 'b' }] });
    expect(answered(book, 'shop/db', 'aabccd')).to.deep.equal(['a', 'a', 'b', 'b', 'b', 'b']);
  });
  it('are for a number of jobs, after which the deployer works', () => {
    const book = new AnswerBook();
    book.set({ 'shop/db': { fails: 'a', times: 2 } });
    expect(answered(book, 'shop/db', 'abc')).to.deep.equal(['a', 'a', 'deployer']);
  });
  it('of an exact path win over a pattern, and later ones over earlier ones', () => {
    const book = new AnswerBook();
    book.set(
      { 'shop/db': { fails: 'exact' }, 'shop/web': { fails: 'old' } },
      { 'shop/*': { fails: 'pattern' } },
    );
    expect(answered(book, 'shop/db', 'a')).to.deep.equal(['exact']);
    book.set({ 'shop/db': { fails: 'old' } }, { 'shop/db': { fails: 'new' } });
    expect(answered(book, 'shop/db', 'a')).to.deep.equal(['new']);
  });
  it('for items that nothing asked for are known', () => {
    const book = new AnswerBook();
    book.set({ 'shop/db': {}, 'shop/*/x': {} });
    expect(answered(book, 'shop/db', 'a')).to.deep.equal(['deployer']);
    expect(answered(book, 'shop/a/b/x', 'a')).to.deep.equal(['deployer']);
    expect(book.unused).to.deep.equal(['shop/*/x']);
  });
});

describe('a snapshot', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-snapshot-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('is written on request, and compared otherwise', () => {
    const file = snapshotFile(join(folder, 'shop.test.yaml'), 'Installs it, all!', 2);
    expect(file).to.equal(join(folder, 'snapshots/shop/installs-it-all-2.yaml'));
    expect(checkSnapshot(file, { a: 1 }, false)?.title).to.match(
      /there is no snapshot .*; write it with --update/,
    );
    expect(checkSnapshot(file, { a: 1 }, true)).to.equal(undefined);
    expect(checkSnapshot(file, { a: 1 }, false)).to.equal(undefined);
    expect(checkSnapshot(file, { a: 2 }, false)?.differences).to.deep.equal([
      { path: 'a', expected: '1', actual: '2' },
    ]);
  });
});
