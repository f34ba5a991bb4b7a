/**
 * Opens files that an image has written. Our programs in the pod can read files that the image must not read, above
 * all their tokens: a link to one of them would make us publish it, and a pipe would block us forever.
 */
import { constants, existsSync } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';

/** The path is not a file or directory of the expected type. */
export class UnexpectedFileType extends Error {
  override readonly name = 'NotPlain';
  readonly isLink: boolean;

  constructor(path: string, isLink: boolean) {
    super(`${path} is ${isLink ? 'a symbolic link' : 'neither a file nor a directory'}`);
    this.isLink = isLink;
  }
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/**
 * Opens a path for reading. Does not follow a link at its end, and does not block.
 * @throws NotPlain; errors of the file system
 */
export async function openWithoutFollowing(path: string, what: 'directory' | 'file'): Promise<FileHandle> {
  const handle = await openWith(path, what === 'directory' ? O_DIRECTORY : 0);
  const stat = await handle.stat();
  if (what === 'directory' ? stat.isDirectory() : stat.isFile()) return handle;
  await handle.close();
  throw new UnexpectedFileType(path, false);
}

/**
 * A path to the opened directory that stays valid. A running image could replace the directory by a link. Linux
 * provides a path to the opened directory itself, whatever its name refers to now.
 */
export function stablePath(folder: FileHandle, place: string): string {
  const fixed = `/proc/self/fd/${String(folder.fd)}`;
  return existsSync(fixed) ? fixed : place;
}

async function openWith(path: string, flags: number): Promise<FileHandle> {
  try {
    return await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link in place of a directory causes ENOTDIR, a socket ENXIO.
    if (code === 'ELOOP') throw new UnexpectedFileType(path, true);
    if (code === 'ENOTDIR' || code === 'ENXIO')
      throw new UnexpectedFileType(path, (await lstat(path)).isSymbolicLink());
    throw error;
  }
}
