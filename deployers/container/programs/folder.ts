/** Packs a folder into an archive and unpacks it: the state that an image keeps between its runs. */
import { chmod, mkdir, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { unpacked } from '../../../src/lib/gzip.ts';
import { readTar, writeTar, type TarInput } from '../../../src/lib/tar.ts';
import { stablePath, UnexpectedFileType, openWithoutFollowing } from './safe-open.ts';

/** The folder contains an entry that cannot be saved, or the archive one that must not be written. */
export class FolderProblem extends Error {
  override readonly name = 'FolderProblem';
}

const NOTHING = new Uint8Array();
/** A larger state would not fit into the memory of a container either. */
const MAX_BYTES = 2 ** 30;
/** Upper limit for the size of an entry without its content. */
const HEADER_BYTES = 2048;

/**
 * The folder as a compressed tar archive; undefined if it is empty.
 * @param maxBytes limit for an archive that can be unpacked again
 * @throws FolderProblem for entries that are neither files nor directories, and if the limit is exceeded
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

/** @param place the directory, as a path that stays valid if it is renamed. @param path its name in the archive */
async function collect(packing: Packing, place: string, path: string): Promise<void> {
  const folder = await opened(place, 'directory', path);
  try {
    const { mode } = await folder.stat();
    if (path !== '') {
      reserveBytes(packing, 0, path);
      packing.entries.push([`${path}/`, NOTHING, mode & 0o777]);
    }
    const fixed = stablePath(folder, place);
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
    reserveBytes(packing, size, path);
    packing.entries.push([path, await file.readFile(), mode & 0o777]);
  } finally {
    await file.close();
  }
}

/** Called before a file is read, because it may not fit into our memory either. */
function reserveBytes(packing: Packing, bytes: number, path: string): void {
  packing.leftBytes -= bytes + HEADER_BYTES;
  if (packing.leftBytes >= 0) return;
  throw new FolderProblem(
    `the state is too large: with ${path} it has more than ${String(packing.maxBytes)} bytes`,
  );
}

async function opened(place: string, what: 'directory' | 'file', path: string): Promise<FileHandle> {
  try {
    return await openWithoutFollowing(place, what);
  } catch (error) {
    if (error instanceof UnexpectedFileType) refuse(path || 'the folder itself', error.isLink);
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
    const place = pathIn(folder, path);
    if (type === 'directory') {
      await mkdir(place, { recursive: true });
    } else if (type === 'file') {
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content);
    } else {
      throw new FolderProblem(`${path} in the saved state is neither a file nor a directory`);
    }
    // A directory that is not writable would block the next entry.
    await chmod(place, type === 'directory' ? mode | 0o700 : mode);
  }
}

/** Archives come from secrets that other users may have written. */
function pathIn(folder: string, path: string): string {
  const inside = normalize(path);
  if (inside.startsWith('..') || inside.startsWith(sep)) {
    throw new FolderProblem(`${path} in the saved state is outside the state folder`);
  }
  return join(folder, inside);
}
