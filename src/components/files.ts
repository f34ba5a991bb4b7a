/** File access for descriptors and blobs: a folder on disk, or a tree in memory. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { byCodePoint } from '../lib/gojson.ts';
import type { FileTree } from '../lib/file-tree.ts';
import { ContentInvalid } from './errors.ts';

export interface Files {
  /** undefined if the file does not exist */
  read(path: string): Promise<Uint8Array | undefined>;
  /** undefined if the folder does not exist; names in order */
  list(
    path: string,
  ): Promise<readonly { readonly name: string; readonly isDirectory: boolean }[] | undefined>;
}

export const filesInMemory = (tree: FileTree): Files => ({
  read: (path) => Promise.resolve(tree.read(path)),
  // As on disk, a link is not a folder, so that recursive walks do not follow it.
  list: (path) =>
    Promise.resolve(
      tree
        .list(path)
        ?.map(({ name, isDirectory, isLink }) => ({ name, isDirectory: isDirectory && !isLink })),
    ),
});

/**
 * A folder on disk; no path leads out of it, not even through links.
 * @param maxBytes larger files are refused
 */
export function filesOnDisk(root: string, maxBytes: number): Files {
  const inside = async (path: string): Promise<string | undefined> => {
    try {
      const base = await realpath(root);
      const found = await realpath(join(base, path));
      return found === base || found.startsWith(base + sep) ? found : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    async read(path) {
      const file = await inside(path);
      if (file === undefined) return undefined;
      const facts = await stat(file);
      if (!facts.isFile()) return undefined;
      if (facts.size > maxBytes)
        throw new ContentInvalid(`file ${path} has more than ${String(maxBytes)} bytes`);
      return readFile(file);
    },
    async list(path) {
      const folder = await inside(path);
      if (folder === undefined || !(await stat(folder)).isDirectory()) return undefined;
      const entries = await readdir(folder, { withFileTypes: true });
      return entries
        .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
        .sort((a, b) => byCodePoint(a.name, b.name));
    },
  };
}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const MAX_FOLDER_BYTES = 256 * 2 ** 20;

/** All files below a folder, with relative paths. @throws ContentInvalid if their total size exceeds the limit */
export async function filesBelow(files: Files, folder: string): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  let size = 0;
  const walk = async (path: string, prefix: string): Promise<void> => {
    for (const { name, isDirectory } of (await files.list(path)) ?? []) {
      if (isDirectory) await walk(`${path}/${name}`, `${prefix}${name}/`);
      else {
        const content = await files.read(`${path}/${name}`);
        size += content?.length ?? 0;
        if (size > MAX_FOLDER_BYTES)
          throw new ContentInvalid(`folder ${folder} has more than ${String(MAX_FOLDER_BYTES)} bytes`);
        if (content) found.set(prefix + name, content);
      }
    }
  };
  await walk(folder, '');
  return found;
}
