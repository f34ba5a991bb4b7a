import { expect } from 'chai';
import { inlineFileTree, readText } from '../../../src/lib/file-tree.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the file tree of an inline blueprint', () => {
  const files = inlineFileTree({
    'a.txt': 'hi',
    dir: { 'b.txt': 'deep', sub: { 'c.txt': 'deeper' } },
    binary: `---Start Binary---\n${base64('bytes')}\n---End Binary---`,
    typed: { $type: 'file', value: 'text' },
    'not-decoded': { $type: 'file', binary: base64('x') },
    folder: { $type: 'directory', value: { 'd.txt': 'd' } },
    link: { $type: 'symlink', value: 'dir/b.txt' },
    'root-link': { $type: 'symlink', value: '/dir' },
    loop: { $type: 'symlink', value: 'loop' },
    tree: { $type: 'json', value: { b: 1, a: [true] } },
    yaml: { $type: 'yaml', value: { a: 1 } },
    number: 5,
    list: [1],
    nothing: null,
  });

  const rows: readonly [string, string | undefined][] = [
    ['a.txt', 'hi'],
    ['/a.txt', 'hi'],
    ['./dir/../a.txt', 'hi'],
    ['../../a.txt', 'hi'],
    ['dir/b.txt', 'deep'],
    ['dir//sub/c.txt', 'deeper'],
    ['binary', 'bytes'],
    ['typed', 'text'],
    ['not-decoded', base64('x')],
    ['folder/d.txt', 'd'],
    ['link', 'deep'],
    ['root-link/b.txt', 'deep'],
    ['loop', undefined],
    ['tree', '{"a":[true],"b":1}'],
    ['yaml', 'a: 1\n'],
    ['number', '5'],
    ['list', undefined],
    ['nothing', undefined],
    ['dir', undefined],
    ['a.txt/b', undefined],
    ['constructor', undefined],
    ['nope', undefined],
  ];
  for (const [path, text] of rows) {
    it(`${text === undefined ? 'has no file' : 'has the file'} ${path}`, () => {
      expect(readText(files, path)).to.equal(text);
    });
  }

  it('lists folders by name', () => {
    expect(files.list('/dir')).to.deep.equal([
      { name: 'b.txt', isDirectory: false, isLink: false, size: 4 },
      { name: 'sub', isDirectory: true, isLink: false, size: 0 },
    ]);
    expect(files.list('a.txt')).to.equal(undefined);
    expect(files.list('nope')).to.equal(undefined);
  });

  it('is empty for anything but a map', () => {
    expect(inlineFileTree('text').list('/')).to.deep.equal([]);
  });
});
