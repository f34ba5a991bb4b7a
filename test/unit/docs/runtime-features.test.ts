/** Checks the page that compares the runtime with others: every feature has a test that exists, and every name is exported. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { hasTest, rowsOf } from '../../support/named-tests.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = read('docs/runtime-features.md');
const SEPARATOR = /^[-| ]+$/;
const rowsIn = (section: string) =>
  rowsOf(page, section).filter(({ id }) => !SEPARATOR.test(id) && !['Feature', 'Espalier'].includes(id));

describe('the page about features of the runtime', () => {
  it('names a test for every feature, and only tests that exist', () => {
    const rows = rowsIn('Features');
    expect(rows.length).to.be.greaterThan(20);
    expect(rows.filter(({ tests }) => tests.length === 0).map(({ id }) => id)).to.deep.equal([]);
    const missing = rows
      .flatMap(({ tests }) => tests)
      .filter(({ title, file }) => !hasTest(read(file), title));
    expect(missing).to.deep.equal([]);
  });

  it('uses names that the reference documents', () => {
    const reference = ['runtime', 'workflow', 'external', 'crd', 'operator-testing']
      .map((entry) => read(`docs/reference/${entry}.md`))
      .join('\n');
    const names = rowsIn('Names').flatMap(({ id }) =>
      [...id.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.match(/[A-Za-z]{4,}/g) ?? []),
    );
    expect(names.length).to.be.greaterThan(40);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(reference))).to.deep.equal([]);
  });
});
