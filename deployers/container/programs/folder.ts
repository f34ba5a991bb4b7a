/** A folder as an archive, and back: what an image keeps between its runs. */
import { chmod, mkdir, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { unpacked } from '../../../src/lib/gzip.ts';
import { readTar, writeTar, type TarInput } from '../../../src/lib/tar.ts';
import { fixedPlace, NotPlain, openPlain } from './plain.ts';

/** The folder holds something that cannot be kept, or an archive something that must not be written. */
export class FolderProblem extends Error {
  override readonly name = 'FolderProblem';
}

const NOTHING = new Uint8Array();
/** More would not fit into a container, either. */
const MAX_BYTES = 2 ** 30;
/** What an entry needs besides its content, at most. */
const HEADER_BYTES = 2048;

/**
 * The folder as tar, compressed; undefined when it is empty.
 * @param maxBytes more could never be put back
 * @throws FolderProblem for what is neither a file nor a directory, and for too much
 */
export async function packFolder(folder: string, maxBytes = MAX_BYTES): Promise<Uint8Array | undefined> {
  const packing: Packing = { entries: [], leftBytes: maxBytes, maxBytes };
  await collect(packing, folder, '');
  return packing.entries.length === 0 ? undefined : gzipSync(writeTar(packing.entries));
}

interface Packing {
  readonly entries: TarInput[];
  leftBytes: number;
  readonly maxBytes: number;
}

/** @param place the directory, in a form that does not change with its name. @param path what it is called in the archive */
async function collect(packing: Packing, place: string, path: string): Promise<void> {
  const folder = await opened(place, 'directory', path);
  try {
    const { mode } = await folder.stat();
    if (path !== '') {
      claim(packing, 0, path);
      packing.entries.push([`${path}/`, NOTHING, mode & 0o777]);
    }
    const fixed = fixedPlace(folder, place);
    const found = await readdir(fixed, { withFileTypes: true });
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) await collect(packing, join(fixed, entry.name), inner);
      else if (entry.isFile()) await add(packing, join(fixed, entry.name), inner);
      else refuse(inner, entry.isSymbolicLink());
    }
  } finally {
    await folder.close();
  }
}

async function add(packing: Packing, place: string, path: string): Promise<void> {
  const file = await opened(place, 'file', path);
  try {
    const { mode, size } = await file.stat();
    claim(packing, size, path);
    packing.entries.push([path, await file.readFile(), mode & 0o777]);
  } finally {
    await file.close();
  }
}

/** Counted before a file is read: it may not fit into our memory, either. */
function claim(packing: Packing, bytes: number, path: string): void {
  packing.leftBytes -= bytes + HEADER_BYTES;
  if (packing.leftBytes >= 0) return;
  throw new FolderProblem(
    `the state is too large: with ${path} it has more than ${String(packing.maxBytes)} bytes`,
  );
}

async function opened(place: string, what: 'directory' | 'file', path: string): Promise<FileHandle> {
  try {
    return await openPlain(place, what);
  } catch (error) {
    if (error instanceof NotPlain) refuse(path || 'the folder itself', error.isLink);
    throw error;
  }
}

function refuse(path: string, isLink: boolean): never {
  const what = isLink ? 'a symbolic link' : 'neither a file nor a directory';
  throw new FolderProblem(`${path} in the state is ${what}; only files and directories can be saved`);
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
      throw new FolderProblem(`${path} in the saved state is neither a file nor a directory`);
    }
    // Whoever takes the right to write away from a directory would lock the next entry out.
    await chmod(place, type === 'directory' ? mode | 0o700 : mode);
  }
}

/** Archives come from secrets that others may have written. */
function placeIn(folder: string, path: string): string {
  const inside = normalize(path);
  if (inside.startsWith('..') || inside.startsWith(sep)) {
    throw new FolderProblem(`${path} in the saved state is outside the state folder`);
  }
  return join(folder, inside);
}
