import { expect } from 'chai';
import { filesBelow, filesInMemory } from '../../../src/components/files.ts';
import { sourceFilesIn } from '../../../src/blueprint/lint/source-files.ts';
import { Source } from '../../../src/blueprint/lint/source.ts';
import { YamlText } from '../../../src/blueprint/lint/yaml-text.ts';
import {
  fileTreeAt,
  FileTreeError,
  fileTreeOf,
  inlineFileTree,
  readText,
  type FileNode,
} from '../../../src/lib/file-tree.ts';

const link = (value: string) => ({ $type: 'symlink', value });

/** Entries that count reads, because each step of a walk reads one. */
class Counted extends Map<string, FileNode> {
  looks = 0;
  override get(name: string): FileNode | undefined {
    if (++this.looks > 200_000) throw new Error('this walk does not end');
    return super.get(name);
  }
}

describe('a link in a file tree', () => {
  const refused: readonly [string, unknown, string][] = [
    ['of 0.4 MB', { a: link(`${'a/'.repeat(200_000)}b`) }, 'the symlink "a" has more than 4096 bytes'],
    ['of 4097 bytes', { d: { l: link('x'.repeat(4097)) } }, 'the symlink "d/l" has more than 4096 bytes'],
    ['of 4098 bytes in 2049 letters', { l: link('ä'.repeat(2049)) }, 'has more than 4096 bytes'],
    ['of 256 parts', { l: link('a/'.repeat(256)) }, 'the symlink "l" has more than 255 parts'],
    [
      'below a folder with a type',
      { d: { $type: 'directory', value: { l: link('x'.repeat(5000)) } } },
      '"d/l"',
    ],
  ];
  for (const [title, tree, message] of refused) {
    it(`${title} is rejected`, () => {
      expect(() => inlineFileTree(tree)).to.throw(FileTreeError, message);
    });
  }

  it('may have 4096 bytes and 255 parts', () => {
    const long = 'x'.repeat(4096);
    const tree = inlineFileTree({
      [long]: 'long',
      l: link(long),
      deep: link(`${'d/../'.repeat(127)}f`),
      d: {},
      f: 'found',
    });
    expect(readText(tree, 'l')).to.equal('long');
    expect(readText(tree, 'deep')).to.equal('found');
  });

  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`l${String(i)}`, link(`l${String(i + 1)}`)]));
  it('leads over 40 links and no more', () => {
    expect(readText(inlineFileTree({ ...chain(40), l40: 'end' }), 'l0')).to.equal('end');
    expect(readText(inlineFileTree({ ...chain(41), l41: 'end' }), 'l0')).to.equal(undefined);
  });

  const longWays = (): Counted => {
    const way = 'd/../'.repeat(126);
    const entries = new Counted([['d', { kind: 'folder', entries: new Map() }]]);
    for (let i = 0; i < 40; i++) entries.set(`l${i}`, { kind: 'link', target: `${way}l${i + 1}` });
    entries.set('l40', { kind: 'file', content: Buffer.from('end') });
    return entries;
  };

  it('needs a bounded number of steps, however far it leads', () => {
    const entries = longWays();
    expect(readText(fileTreeAt({ kind: 'folder', entries }), 'l0')).to.equal(undefined);
    expect(entries.looks).to.be.at.most(2048);
    expect(readText(fileTreeAt({ kind: 'folder', entries }), 'l36')).to.equal('end');
  });

  it('needs a bounded number of steps together with all others of a listing', () => {
    const many = Array.from({ length: 1000 }, (_, i): [string, FileNode] => {
      return [`k${String(i).padStart(4, '0')}`, { kind: 'link', target: '/l36' }];
    });
    const entries = longWays();
    entries.set('many', { kind: 'folder', entries: new Map(many) });
    const listed = fileTreeAt({ kind: 'folder', entries }).list('many');
    expect(entries.looks).to.be.at.most(100_000);
    expect(listed).to.have.length(1000);
    expect(listed?.[0]).to.deep.equal({ name: 'k0000', isDirectory: false, isLink: true, size: 3 });
    expect(listed?.at(-1)).to.deep.equal({ name: 'k0999', isDirectory: false, isLink: true, size: 0 });
  });

  it('is relative to its folder, in listings as in reads', () => {
    const tree = inlineFileTree({ d: { f: 'four', l: link('f'), up: link('../d') } });
    expect(readText(tree, 'd/l')).to.equal('four');
    expect(tree.list('d')).to.deep.equal([
      { name: 'f', isDirectory: false, isLink: false, size: 4 },
      { name: 'l', isDirectory: false, isLink: true, size: 4 },
      { name: 'up', isDirectory: true, isLink: true, size: 0 },
    ]);
  });

  it('continues at the target of the previous link', () => {
    const tree = inlineFileTree({ a: { b: { up: link('..'), top: link('/f') } }, l: link('a/b'), f: 'root' });
    expect(readText(tree, 'l/up/../f')).to.equal('root');
    expect(readText(tree, 'l/top')).to.equal('root');
    expect(readText(tree, 'l/top/x')).to.equal(undefined);
    expect(tree.list('l/up')?.map(({ name }) => name)).to.deep.equal(['b']);
  });
});

describe('a walk through a whole file tree', () => {
  // Two links to the root double the folders with each level.
  const circles = { d: { up: link('..'), top: link('/'), f: 'x' }, l: link('d/f') };

  it('does not enter links to folders', async () => {
    const found = await filesBelow(filesInMemory(inlineFileTree(circles)), '.');
    expect([...found.keys()]).to.deep.equal(['d/f', 'l']);
  });

  it('does not enter them in search of mistakes, either', () => {
    const document = YamlText.of(new Source('here', '{}'));
    expect(sourceFilesIn(document, circles).paths).to.deep.equal(['d/f', 'l']);
  });
});

describe('the folders of a file tree', () => {
  it('may be nested 255 deep', () => {
    const nested = (depth: number): unknown =>
      Array.from({ length: depth }).reduce<unknown>((inner) => ({ d: inner }), { f: 'x' });
    expect(readText(inlineFileTree(nested(254)), `${'d/'.repeat(254)}f`)).to.equal('x');
    expect(() => inlineFileTree(nested(256))).to.throw(FileTreeError, 'more than 255 folders deep');
  });

  it('are not created for a path that is too long', () => {
    const tree = (path: string) => () => fileTreeOf(new Map([[path, new Uint8Array()]]));
    expect(tree(`${'d/'.repeat(255)}f`)).to.throw(FileTreeError, 'has more than 255 parts');
    expect(tree('d'.repeat(4097))).to.throw(FileTreeError, 'has more than 4096 bytes');
  });
});
