/**
 * Opening what an image has written. The programs beside it have what it must not have, their tokens above all: a link
 * that leads there would have them read it aloud, and a pipe would have them wait for ever.
 */
import { constants, existsSync } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';

/** It is not what it should be. */
export class NotPlain extends Error {
  override readonly name = 'NotPlain';
  readonly isLink: boolean;

  constructor(path: string, isLink: boolean) {
    super(`${path} is ${isLink ? 'a symbolic link' : 'neither a file nor a directory'}`);
    this.isLink = isLink;
  }
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/**
 * Opens for reading without following a link at the end of the path, and without waiting.
 * @throws NotPlain, and what the file system throws
 */
export async function openPlain(path: string, what: 'directory' | 'file'): Promise<FileHandle> {
  const handle = await openWith(path, what === 'directory' ? O_DIRECTORY : 0);
  const stat = await handle.stat();
  if (what === 'directory' ? stat.isDirectory() : stat.isFile()) return handle;
  await handle.close();
  throw new NotPlain(path, false);
}

/**
 * Where an opened directory is, to go on from there. An image that is still at work could put a link in its place; Linux has
 * a path that leads to what we have opened, whatever stands under its name now.
 */
export function fixedPlace(folder: FileHandle, place: string): string {
  const fixed = `/proc/self/fd/${String(folder.fd)}`;
  return existsSync(fixed) ? fixed : place;
}

async function openWith(path: string, flags: number): Promise<FileHandle> {
  try {
    return await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link that should be a directory is answered with ENOTDIR, a socket with ENXIO.
    if (code === 'ELOOP') throw new NotPlain(path, true);
    if (code === 'ENOTDIR' || code === 'ENXIO')
      throw new NotPlain(path, (await lstat(path)).isSymbolicLink());
    throw error;
  }
}
