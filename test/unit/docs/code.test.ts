/** Code on the pages is code that tests run: a block that names a file is found there, except for white space. */
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const BLOCK = /^```(?:ts|yaml) (\S+)\n([^]*?)^```/gm;

/** Lines in order, without leading and trailing white space: blocks may be indented less than their source. */
const linesOf = (code: string): string =>
  `\n${code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')}\n`;

const pages = readdirSync(join(root, 'docs'), { recursive: true })
  .map((path) => join('docs', String(path)))
  .filter((path) => path.endsWith('.md'));
const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(BLOCK)].map(([, file = '', code = '']) => ({ page, file, code })),
);

describe('code on the pages', () => {
  for (const { page, file, code } of blocks) {
    it(`is the same as in ${file}: ${page}, ${code.split('\n')[0] ?? ''}`, () => {
      expect(linesOf(read(file))).to.include(linesOf(code));
    });
  }

  it('is found', () => {
    expect(blocks.filter(({ page }) => page === 'docs/runtime.md').length).to.be.greaterThan(3);
  });

  it('is not mistaken for other code', () => {
    expect(linesOf(read('docs/samples/operators/webpage/main.ts'))).to.not.include(
      linesOf('await manager.halt();'),
    );
  });
});

describe('samples of operators', () => {
  it('stay below 150 lines', () => {
    const folder = 'docs/samples/operators';
    const files = readdirSync(join(root, folder), { recursive: true }).map((path) =>
      join(folder, String(path)),
    );
    const code = files.filter((path) => path.endsWith('.ts'));
    expect(code.length).to.be.greaterThan(0);
    for (const path of code) expect(read(path).split('\n').length, path).to.be.below(150);
  });
});
