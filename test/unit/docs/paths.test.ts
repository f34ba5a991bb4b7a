/** ARCHITECTURE.md and CONTRIBUTING.md name only files and folders that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../../..');
const START = /^(?:src|controllers|deployers|test|hack|docs|crds)\/[\w./*-]+$/;

const pathsIn = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/`([^`\s]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => START.test(path));

const filesIn = (folder: string): readonly string[] =>
  existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];

/** `*` stands for one folder or file. */
function exists(path: string): boolean {
  const [before = '', ...after] = path.split('*/');
  if (after.length > 0) {
    return filesIn(before).some((name) => exists(`${before}${name}/${after.join('*/')}`));
  }
  if (!path.includes('*')) return existsSync(join(root, path));
  const [start = '', end = ''] = path.split('*');
  const folder = start.slice(0, start.lastIndexOf('/') + 1);
  return filesIn(folder).some((name) => `${folder}${name}`.startsWith(start) && name.endsWith(end));
}

for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
  describe(`the paths in ${page}`, () => {
    it('exist', () => {
      const paths = pathsIn(page);
      expect(paths.length).to.be.greaterThan(20);
      expect(paths.filter((path) => !exists(path))).to.deep.equal([]);
    });
  });
}
