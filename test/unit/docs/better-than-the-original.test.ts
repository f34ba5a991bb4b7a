/** Checks the page about weaknesses of upstream: every test that it names exists. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { hasTest, rowsOf } from '../../support/named-tests.ts';

const root = resolve(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/better-than-the-original.md'), 'utf8');

const SECTIONS = ['Known weaknesses', 'By area', 'Deployers', 'Seen in recordings'];
const LEFT = '#left-as-it-is';

describe('the page about weaknesses of upstream', () => {
  const rows = SECTIONS.flatMap((section) => rowsOf(page, section));

  it('has every weakness', () => {
    const numbers = rowsOf(page, 'Known weaknesses').map(({ id }) => Number(id));
    expect(numbers).to.deep.equal(Array.from({ length: 23 }, (_, i) => i + 1));
    const ofDeployers = rowsOf(page, 'Deployers').flatMap(({ id }) => /^W-(\d+)$/.exec(id)?.[1] ?? []);
    expect(ofDeployers.map(Number)).to.deep.equal(Array.from({ length: 30 }, (_, i) => i + 1));
    expect(rowsOf(page, 'By area').length).to.be.greaterThan(0);
    expect(rowsOf(page, 'Seen in recordings').length).to.be.greaterThan(0);
  });

  it('names only tests that exist', () => {
    const missing = rows
      .flatMap(({ tests }) => tests)
      .filter(({ title, file }) => !hasTest(readFileSync(join(root, file), 'utf8'), title));
    expect(missing).to.deep.equal([]);
  });

  it('has a test in every row, or says that nothing has changed', () => {
    const bare = rows.filter(({ tests, text }) => tests.length === 0 && !text.includes(LEFT));
    expect(bare.map(({ id }) => id)).to.deep.equal([]);
  });

  it('describes every row that is left unchanged, and no other', () => {
    const saying = rows.filter(({ text }) => text.includes(LEFT)).map(({ id }) => id);
    const told = rowsOf(page, 'Left as it is').map(({ id }) => id);
    expect([...new Set(told)].sort()).to.deep.equal([...new Set(saying)].sort());
  });
});

describe('a test named by a page', () => {
  const source =
    "it('of one thing', () => {}); it(`ends at ${place} and at ${other}`, f); // it is 'not one'";
  const rows: readonly [string, boolean][] = [
    ['of one thing', true],
    ['of one', false],
    ['one thing', false],
    ['ends at … and at …', true],
    ['ends at … or at …', false],
    ['not one', false],
  ];
  for (const [title, isThere] of rows) {
    it(`${isThere ? 'exists' : 'does not exist'} if its title is "${title}"`, () => {
      expect(hasTest(source, title)).to.equal(isThere);
    });
  }
});
