/** Pages for authors name only functions and types that they can import. */
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true })
    .map((path) => join(folder, String(path)))
    .filter((path) => path.endsWith(ending));
const namesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

const EXPORT = /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm;
const HEADING = /^### (\w+)$/gm;
const FIELD = /\b(\w+)\??[:(]/g;
const CODE = /`([A-Za-z]\w+)[`(]/g;

const reference = filesIn('docs/reference', '.md').map(read).join('\n');
const published = new Set(namesIn(reference, HEADING));
/** Methods and options have the names of internal functions now and then. */
const fields = new Set(namesIn(reference, FIELD));
const exported = ['src/runtime', 'src/workflow', 'deployers/sdk']
  .flatMap((folder) => filesIn(folder, '.ts'))
  .flatMap((file) => namesIn(read(file), EXPORT));
const internal = new Set(exported.filter((name) => !published.has(name) && !fields.has(name)));

describe('a page for authors', () => {
  for (const page of ['runtime', 'runtime-controllers', 'runtime-external', 'deployers'])
    it(`names nothing internal: ${page}`, () => {
      const named = namesIn(read(`docs/${page}.md`), CODE);
      expect(named.filter((name) => published.has(name))).to.have.length.greaterThan(3);
      expect(named.filter((name) => internal.has(name))).to.deep.equal([]);
    });
});
