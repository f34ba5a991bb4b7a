import { expect } from 'chai';
import type { TemplateFiles } from '../../../../../src/templating/files.ts';
import { standardFunctions } from '../../../../../src/templating/spiff/functions/index.ts';
import type { SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import { world } from './support.ts';

const files: TemplateFiles = {
  read: (path) => (path.replace(/^\/+/, '') === 'a.txt' ? Buffer.from('hi') : undefined),
  list: (path) =>
    path === '/'
      ? [
          { name: 'a.txt', isDirectory: false, size: 2 },
          { name: 'dir', isDirectory: true, size: 0 },
        ]
      : undefined,
};

const ask = (name: string, ...args: SpiffValue[]): SpiffValue =>
  standardFunctions[name]?.(args, world(files)) ?? null;

describe('files of the blueprint', () => {
  it('are found in the named folders', () => {
    expect(ask('lookup_file', 'a.txt', ['/dir', null, '/'])).to.deep.equal(['//a.txt']);
    expect(ask('lookup_file', '/a.txt', '/nope')).to.deep.equal(['/a.txt']);
    expect(ask('lookup_dir', '/', '/')).to.deep.equal(['/']);
  });
  it('are listed separately from folders', () => {
    expect(ask('list_files', '/')).to.deep.equal(['a.txt']);
    expect(ask('list_dirs', '/')).to.deep.equal(['dir']);
  });
  it('cannot be listed if there is no folder', () => {
    expect(() => ask('list_files', '/nope')).to.throw('list: "/nope" is no directory or does not exist');
  });
});
