/** Unpacks archives of blueprints, and refuses entries that lead out of the folder. */
import { FileTreeError, fileTreeOf, type FileTree } from '../lib/file-tree.ts';
import { UnpackError, unpacked } from '../lib/gzip.ts';
import { partsOf, pathProblem, shortPath } from '../lib/path-limits.ts';
import { readTar, TarError } from '../lib/tar.ts';
import { ContentInvalid } from './errors.ts';

/** Maximum unpacked size of a blueprint. */
const MAX_UNPACKED_BYTES = 64 * 2 ** 20;
const MAX_FILES = 20_000;

/**
 * The files of one or more archives, compressed or not; for equal paths the last one wins. Links are left out.
 * @throws ContentInvalid
 */
export async function unpackArchives(
  archives: readonly Uint8Array[],
  what: string,
  maxBytes = MAX_UNPACKED_BYTES,
): Promise<FileTree> {
  const files = new Map<string, Uint8Array>();
  let size = 0;
  for (const archive of archives) {
    for (const { path, type, content, target = '' } of await entriesOf(archive, what, maxBytes)) {
      requireShort(path, target, what);
      const parts = partsOf(path);
      const isOutside = path.startsWith('/') || path.includes('\\') || parts.includes('..');
      if (isOutside || (type === 'link' && leaves(parts, target))) {
        throw new ContentInvalid(`${what}: the entry "${shortPath(path)}" leads out of the archive`);
      }
      if (type !== 'file') continue;
      size += content.length;
      if (size > maxBytes || files.size >= MAX_FILES) {
        throw new ContentInvalid(
          `${what}: more than ${String(maxBytes)} bytes or ${String(MAX_FILES)} files`,
        );
      }
      files.set(parts.join('/'), content);
    }
  }
  try {
    return fileTreeOf(files);
  } catch (cause) {
    if (cause instanceof FileTreeError) throw new ContentInvalid(`${what}: ${cause.message}`, { cause });
    throw cause;
  }
}

/** Extended headers allow paths as long as the archive. @throws ContentInvalid */
function requireShort(path: string, target: string, what: string): void {
  const long = pathProblem(path);
  if (long !== undefined) {
    throw new ContentInvalid(`${what}: the path of the entry "${shortPath(path)}" ${long}`);
  }
  const far = pathProblem(target);
  if (far !== undefined) {
    throw new ContentInvalid(`${what}: the target of the link "${shortPath(path)}" ${far}`);
  }
}

async function entriesOf(archive: Uint8Array, what: string, maxBytes: number) {
  try {
    // Headers and padding count as well.
    return [...readTar(await unpacked(archive, 2 * maxBytes))];
  } catch (cause) {
    if (cause instanceof TarError || cause instanceof UnpackError) {
      throw new ContentInvalid(`${what} is not a valid archive: ${cause.message}`, { cause });
    }
    throw cause;
  }
}

function leaves(parts: readonly string[], target: string): boolean {
  if (target.startsWith('/')) return true;
  let depth = parts.length - 1;
  for (const part of target.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}
