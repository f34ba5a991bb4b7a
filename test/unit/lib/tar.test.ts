import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, readFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readTar, TarError, writeTar } from '../../../src/lib/tar.ts';
import { skip } from '../../support/skip.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const LONG = `${'folder/'.repeat(30)}file-with-ümlaut.txt`;
const shown = (archive: Uint8Array) =>
  [...readTar(archive)].map(({ path, type, content, target }) => [
    path,
    type,
    target ?? Buffer.from(content).toString(),
  ]);

describe('a tar archive', () => {
  it('is read as it was written, including long names and empty files', () => {
    const archive = writeTar([
      ['a.txt', bytes('hello')],
      [LONG, bytes('x'.repeat(1000))],
      ['empty', bytes('')],
    ]);
    expect(shown(archive)).to.deep.equal([
      ['a.txt', 'file', 'hello'],
      [LONG, 'file', 'x'.repeat(1000)],
      ['empty', 'file', ''],
    ]);
    expect(archive.length % 512).to.equal(0);
  });

  it('is the same for the same contents', () => {
    expect(writeTar([['a', bytes('1')]])).to.deep.equal(writeTar([['a', bytes('1')]]));
  });

  for (const length of ['1e-300', '0.5', '-1', '0', '', '1e9']) {
    it(`is rejected, not read forever, if a record claims the length "${length}"`, () => {
      // The header of a file, changed into that of extended records with a corrected checksum.
      const archive = Buffer.from(writeTar([['a', bytes(`${length} path=x\n`)]]));
      archive.write('x', 156, 'latin1');
      archive.write('        ', 148, 'latin1');
      const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      expect(() => shown(archive)).to.throw(TarError, 'an extended header cannot be read');
    });
  }

  describe('of the tar of this machine', () => {
    const hasTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU tar') ?? false;
    const folder = mkdtempSync(join(tmpdir(), 'espalier-tar-'));
    after(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    for (const format of ['gnu', 'pax', 'ustar', 'v7'] as const) {
      it(`is read in the format ${format}`, function () {
        if (!hasTar) skip(this, 'there is no GNU tar on the PATH');
        const source = join(folder, format);
        const deep = join(source, format === 'gnu' || format === 'pax' ? 'deep/'.repeat(40) : 'deep');
        mkdirSync(deep, { recursive: true });
        writeFileSync(join(deep, 'file'), 'content');
        symlinkSync('../elsewhere', join(source, 'link'));
        execFileSync('tar', [`--format=${format}`, '-cf', `${source}.tar`, '-C', source, '.']);
        const entries = shown(readFileSync(`${source}.tar`));
        expect(entries.find(([path]) => path?.endsWith('deep/file'))).to.include.members(['file', 'content']);
        expect(entries).to.deep.include(['./link', 'link', '../elsewhere']);
        expect(entries).to.deep.include(['./', 'directory', '']);
      });
    }

    it('can be unpacked by it', function () {
      if (!hasTar) skip(this, 'there is no GNU tar on the PATH');
      const file = join(folder, 'ours.tar');
      writeFileSync(
        file,
        writeTar([
          ['a/b.txt', bytes('hello')],
          [LONG, bytes('deep')],
        ]),
      );
      expect(execFileSync('tar', ['-xOf', file, 'a/b.txt'], { encoding: 'utf8' })).to.equal('hello');
      expect(execFileSync('tar', ['-xOf', file, LONG], { encoding: 'utf8' })).to.equal('deep');
    });
  });

  const damaged: readonly [string, Uint8Array][] = [
    ['is not an archive', Buffer.alloc(1024, 'x')],
    ['was truncated', writeTar([['a', Buffer.alloc(5000)]]).subarray(0, 2048)],
  ];
  for (const [title, archive] of damaged) {
    it(`is rejected if it ${title}`, () => {
      expect(() => [...readTar(archive)]).to.throw(TarError);
    });
  }
});
