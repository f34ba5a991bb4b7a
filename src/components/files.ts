/** Where descriptors and blobs lie when it is not a registry: a folder on disk, or a tree in memory. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { byCodePoint } from '../lib/gojson.ts';
import type { FileTree } from '../lib/file-tree.ts';
import { ContentInvalid } from './errors.ts';

export interface Files {
  /** undefined when there is no such file */
  read(path: string): Promise<Uint8Array | undefined>;
  /** undefined when there is no such folder; names in order */
  list(
    path: string,
  ): Promise<readonly { readonly name: string; readonly isDirectory: boolean }[] | undefined>;
}

export const filesInMemory = (tree: FileTree): Files => ({
  read: (path) => Promise.resolve(tree.read(path)),
  // As on disk, a link is no folder: who walks through everything does not enter it.
  list: (path) =>
    Promise.resolve(
      tree
        .list(path)
        ?.map(({ name, isDirectory, isLink }) => ({ name, isDirectory: isDirectory && !isLink })),
    ),
});

/**
 * A folder; nothing outside of it can be reached, not by links either.
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

/** All files below a folder, with paths relative to it. @throws ContentInvalid when they are too large together */
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
