/** A folder as an archive, and back: what an image keeps between its runs. */
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { unpacked } from '../../../src/lib/gzip.ts';
import { readTar, writeTar, type TarInput } from '../../../src/lib/tar.ts';

/** The folder holds something that cannot be kept, or an archive something that must not be written. */
export class FolderProblem extends Error {
  override readonly name = 'FolderProblem';
}

const NOTHING = new Uint8Array();
/** More would not fit into a container, either. */
const MAX_BYTES = 2 ** 30;

/**
 * The folder as tar, compressed; undefined when it is empty.
 * @throws FolderProblem for what is neither file nor directory
 */
export async function packFolder(folder: string): Promise<Uint8Array | undefined> {
  const entries: TarInput[] = [];
  await collect(folder, '', entries);
  return entries.length === 0 ? undefined : gzipSync(writeTar(entries));
}

async function collect(root: string, below: string, entries: TarInput[]): Promise<void> {
  const found = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const mode = async (): Promise<number> => (await stat(join(root, path))).mode & 0o777;
    if (entry.isDirectory()) {
      entries.push([`${path}/`, NOTHING, await mode()]);
      await collect(root, path, entries);
    } else if (entry.isFile()) {
      entries.push([path, await readFile(join(root, path)), await mode()]);
    } else {
      const what = entry.isSymbolicLink() ? 'a symbolic link' : 'neither file nor directory';
      throw new FolderProblem(`${path} in the state is ${what}; only files and directories can be kept`);
    }
  }
}

/** @throws FolderProblem, TarError, UnpackError */
export async function unpackFolder(archive: Uint8Array, folder: string): Promise<void> {
  for (const { path, type, content, mode } of readTar(await unpacked(archive, MAX_BYTES))) {
    const place = placeIn(folder, path);
    if (type === 'directory') {
      await mkdir(place, { recursive: true });
    } else if (type === 'file') {
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content);
    } else {
      throw new FolderProblem(`${path} in the kept state is neither file nor directory`);
    }
    // Whoever takes the right to write away from a directory would lock the next entry out.
    await chmod(place, type === 'directory' ? mode | 0o700 : mode);
  }
}

/** Archives come from secrets that others may have written. */
function placeIn(folder: string, path: string): string {
  const inside = normalize(path);
  if (inside.startsWith('..') || inside.startsWith(sep)) {
    throw new FolderProblem(`${path} in the kept state lies outside of it`);
  }
  return join(folder, inside);
}
