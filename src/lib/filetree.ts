/** Read-only trees of folders and files in memory: from YAML, as installations hold them, and from unpacked archives. */
import { byCodePoint, goJson } from './gojson.ts';
import { isObject, ownField } from './objects.ts';
import { toYaml } from './yaml.ts';

/** Paths are relative to the root, a leading `/` is allowed. */
export interface FileTree {
  /** All of it as plain data, which threads can hand to each other: see fileTreeAt. */
  readonly root: Folder;
  /** undefined when there is no such file */
  read(path: string): Uint8Array | undefined;
  /** undefined when there is no such folder; sorted by name */
  list(path: string): readonly FileEntry[] | undefined;
}

export interface FileEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  /** bytes, 0 for folders */
  readonly size: number;
}

export type FileNode =
  | { readonly kind: 'file'; readonly content: Uint8Array }
  | { readonly kind: 'link'; readonly target: string }
  | Folder;
export interface Folder {
  readonly kind: 'folder';
  readonly entries: ReadonlyMap<string, FileNode>;
}

/** A folder that is being filled. */
interface OpenFolder {
  readonly kind: 'folder';
  readonly entries: Map<string, FileNode>;
}
const isOpenFolder = (node: FileNode | undefined): node is OpenFolder => node?.kind === 'folder';

const MAX_LINKS = 40;
const BINARY_START = '---Start Binary---';
const BINARY_END = '---End Binary---';

/** @param filesystem the tree as it stands in the Installation; anything but a map is an empty tree */
export const inlineFileTree = (filesystem: unknown): FileTree => fileTreeAt(folder(filesystem));

/** @param files contents by path, without `.` and `..`; the folders are those that the paths name */
export function fileTreeOf(files: ReadonlyMap<string, Uint8Array>): FileTree {
  const root: OpenFolder = { kind: 'folder', entries: new Map() };
  for (const [path, content] of files) {
    const parts = path.split('/').filter((part) => part !== '');
    const name = parts.pop();
    let at = root;
    for (const part of parts) {
      const known = at.entries.get(part);
      const next: OpenFolder = isOpenFolder(known) ? known : { kind: 'folder', entries: new Map() };
      at.entries.set(part, next);
      at = next;
    }
    if (name !== undefined) at.entries.set(name, file(content));
  }
  return fileTreeAt(root);
}

/** The tree with this root. */
export function fileTreeAt(root: Folder): FileTree {
  return {
    root,
    read(path) {
      const node = find(root, path);
      return node?.kind === 'file' ? node.content : undefined;
    },
    list(path) {
      const node = find(root, path);
      return node?.kind === 'folder' ? entriesOf(node, root) : undefined;
    },
  };
}

/** Text of a file, or undefined. */
export function readText(files: FileTree, path: string): string | undefined {
  const content = files.read(path);
  return content === undefined ? undefined : Buffer.from(content).toString('utf8');
}

// ---------------------------------------------------------------- building

function folder(value: unknown): Folder {
  const entries = new Map<string, FileNode>();
  if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      const node = nodeOf(child);
      if (node) entries.set(name, node);
    }
  }
  return { kind: 'folder', entries };
}

/** Lists and null are no nodes, as upstream has it; numbers and booleans are files with that text. */
function nodeOf(value: unknown): FileNode | undefined {
  if (typeof value === 'string') return file(textContent(value));
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return file(Buffer.from(String(value)));
  if (!isObject(value)) return undefined;
  const payload = ownField(value, 'value');
  switch (ownField(value, '$type')) {
    case undefined:
      return folder(value);
    case 'directory':
      return folder(payload);
    case 'file':
      return file(Buffer.from(text(payload ?? ownField(value, 'binary'))));
    case 'symlink':
      return { kind: 'link', target: text(payload) };
    case 'yaml':
      return file(Buffer.from(toYaml(payload ?? null)));
    case 'json':
      return file(Buffer.from(goJson(payload ?? null)));
    default:
      return undefined;
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const file = (content: Uint8Array): FileNode => ({ kind: 'file', content });

function textContent(text: string): Uint8Array {
  const lines = text.trimEnd().split('\n');
  if (lines[0]?.trim() !== BINARY_START || lines.at(-1)?.trim() !== BINARY_END) return Buffer.from(text);
  return Buffer.from(lines.slice(1, -1).join(''), 'base64');
}

// ---------------------------------------------------------------- looking up

function entriesOf(node: Folder, root: Folder): readonly FileEntry[] {
  return [...node.entries]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, child]) => {
      const real = child.kind === 'link' ? find(root, child.target) : child;
      return {
        name,
        isDirectory: real?.kind === 'folder',
        size: real?.kind === 'file' ? real.content.length : 0,
      };
    });
}

/** Walks the tree; `..` never leaves the root, links are followed within it. */
function find(root: Folder, path: string, links = 0): Exclude<FileNode, { kind: 'link' }> | undefined {
  const trail: Folder[] = [root];
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  for (const [i, part] of parts.entries()) {
    if (part === '..') {
      if (trail.length > 1) trail.pop();
      continue;
    }
    const node = trail.at(-1)?.entries.get(part);
    if (!node) return undefined;
    const rest = parts.slice(i + 1);
    if (node.kind === 'link') {
      if (links >= MAX_LINKS) return undefined;
      const base = node.target.startsWith('/') ? [] : parts.slice(0, i);
      return find(root, [...base, node.target, ...rest].join('/'), links + 1);
    }
    if (node.kind === 'file') return rest.length === 0 ? node : undefined;
    trail.push(node);
  }
  return trail.at(-1);
}
