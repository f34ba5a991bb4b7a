/** ARCHITECTURE.md and CONTRIBUTING.md name only files and folders that exist, and all rooms; decisions have no gaps. */
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

describe('the folders in ARCHITECTURE.md', () => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  /** Without those that have data only. */
  const foldersIn = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'data')
      .map(({ name }) => name);

  it('are all of those of src', () => {
    const missing = foldersIn('src').filter(
      (name) => !rows.some((row) => row.startsWith(`| \`src/${name}\` |`)),
    );
    expect(missing).to.deep.equal([]);
  });

  for (const folder of ['src/runtime', 'src/apiserver', 'controllers', 'deployers'])
    it(`are all of those of ${folder}`, () => {
      const row = rows.find((line) => line.startsWith(`| \`${folder}\` |`)) ?? '';
      const words = new Set(row.match(/[\w-]+/g));
      expect(foldersIn(folder).filter((name) => !words.has(name))).to.deep.equal([]);
    });
});

describe('the decisions', () => {
  const files = readdirSync(join(root, 'docs/adr')).filter((name) => /^\d/.test(name));
  const index = readFileSync(join(root, 'docs/adr/README.md'), 'utf8');

  it('are numbered without gaps, and each has its number in its title', () => {
    expect(files.map((name) => Number(name.slice(0, 4)))).to.deep.equal(files.map((_, i) => i + 1));
    for (const [i, name] of files.entries())
      expect(readFileSync(join(root, 'docs/adr', name), 'utf8'), name).to.match(
        new RegExp(`^# ${i + 1}\\. `),
      );
  });

  it('are in the list, with their titles', () => {
    const lines = files.map((name) => {
      const [, title = ''] = /^# \d+\. (.*)/.exec(readFileSync(join(root, 'docs/adr', name), 'utf8')) ?? [];
      return `| [${name.slice(0, 4)}](${name}) | ${title} |`;
    });
    expect(index.split('\n').filter((line) => line.startsWith('| [0'))).to.deep.equal(lines);
  });
});

describe('the packages of the program', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>;

  it('have exact versions, except for zod, as SECURITY.md says', () => {
    const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^(npm:\w+@)?\d+\.\d+\.\d+$/.test(version),
    );
    expect(ranges.map(([name]) => name)).to.deep.equal(['zod']);
    const sentence = readFileSync(join(root, 'SECURITY.md'), 'utf8').replace(/\s+/g, ' ');
    expect(sentence).to.contain('pinned to exact versions, except for zod');
  });
});
