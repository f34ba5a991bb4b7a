/** Read-only trees of folders and files in memory: from YAML in installations, and from archives. */
import { isUtf8 } from 'node:buffer';
import { byCodePoint, goJson } from './gojson.ts';
import { isObject, ownField } from './objects.ts';
import { MAX_PATH_PARTS, partsOf, pathProblem, shortPath } from './path-limits.ts';
import { toYaml } from './yaml.ts';

/** Paths are relative to the root, a leading `/` is allowed. */
export interface FileTree {
  /** The tree as plain data, which can be sent to other threads: see fileTreeAt. */
  readonly root: Folder;
  /** Undefined if there is no such file. */
  read(path: string): Uint8Array | undefined;
  /** Sorted by name; undefined if there is no such folder. */
  list(path: string): readonly FileEntry[] | undefined;
}

interface FileEntry {
  readonly name: string;
  /** A link counts as its target. */
  readonly isDirectory: boolean;
  /** Code that walks a whole tree must not follow links, because they can be cyclic. */
  readonly isLink: boolean;
  /** Bytes, 0 for folders. */
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

/** A folder under construction. */
interface OpenFolder {
  readonly kind: 'folder';
  readonly entries: Map<string, FileNode>;
}
const isOpenFolder = (node: FileNode | undefined): node is OpenFolder => node?.kind === 'folder';

/** The file tree exceeds a limit; retrying is useless. */
export class FileTreeError extends Error {
  override readonly name = 'FileTreeError';
}

/** Maximum number of links in the resolution of one path, as on Linux. */
const MAX_LINKS = 40;
/** Maximum number of names in the resolution of one path, links included. */
const MAX_STEPS = 2048;
/** The same for all links of a listed folder; further links do not resolve. */
const MAX_LISTING_STEPS = 100_000;
/** Splitting a link target also costs time: this many characters count as one step. */
const CHARACTERS_A_STEP = 64;
const MAX_FOLDERS = 100_000;
const BINARY_START = '---Start Binary---';
const BINARY_END = '---End Binary---';

/**
 * @param filesystem the tree in the Installation; any value other than a map is an empty tree
 * @throws FileTreeError
 */
export const inlineFileTree = (filesystem: unknown): FileTree => fileTreeAt(folder(filesystem, []));

/**
 * @param files contents by path, without `.` and `..`; folders are created for the paths
 * @throws FileTreeError
 */
export function fileTreeOf(files: ReadonlyMap<string, Uint8Array>): FileTree {
  const root: OpenFolder = { kind: 'folder', entries: new Map() };
  let folders = 0;
  for (const [path, content] of files) {
    const problem = pathProblem(path);
    if (problem !== undefined) throw new FileTreeError(`the path "${shortPath(path)}" ${problem}`);
    const parts = path.split('/').filter((part) => part !== '');
    const name = parts.pop();
    let at = root;
    for (const part of parts) {
      const known = at.entries.get(part);
      const next: OpenFolder = isOpenFolder(known) ? known : { kind: 'folder', entries: new Map() };
      if (next !== known) folders++;
      at.entries.set(part, next);
      at = next;
    }
    if (folders > MAX_FOLDERS) throw new FileTreeError(`there are more than ${String(MAX_FOLDERS)} folders`);
    if (name !== undefined) at.entries.set(name, file(content));
  }
  return fileTreeAt(root);
}

/** The tree with this root folder. */
export function fileTreeAt(root: Folder): FileTree {
  return {
    root,
    read(path) {
      const node = find([root], path)?.node;
      return node?.kind === 'file' ? node.content : undefined;
    },
    list(path) {
      const found = find([root], path);
      return found?.node.kind === 'folder' ? entriesOf(found.node, found.trail) : undefined;
    },
  };
}

/** The inverse of `inlineFileTree`: folders are maps, files are strings, binary files are marked base64. */
export function inlineFilesystemOf(files: ReadonlyMap<string, Uint8Array>): Record<string, unknown> {
  const folders = new Map<string, Map<string, Uint8Array>>();
  const entries: [string, unknown][] = [];
  for (const [path, content] of files) {
    const slash = path.indexOf('/');
    if (slash < 0) {
      entries.push([path, inlineContent(content)]);
      continue;
    }
    const name = path.slice(0, slash);
    const inside = folders.get(name) ?? new Map<string, Uint8Array>();
    folders.set(name, inside.set(path.slice(slash + 1), content));
  }
  for (const [name, inside] of folders) entries.push([name, inlineFilesystemOf(inside)]);
  return Object.fromEntries(entries.sort(([a], [b]) => byCodePoint(a, b)));
}

function inlineContent(content: Uint8Array): string {
  const text = isUtf8(content) ? Buffer.from(content).toString('utf8') : undefined;
  if (text !== undefined && !text.trimStart().startsWith(BINARY_START)) return text;
  return `${BINARY_START}\n${Buffer.from(content).toString('base64')}\n${BINARY_END}`;
}

/** Text of a file; undefined if it does not exist. */
export function readText(files: FileTree, path: string): string | undefined {
  const content = files.read(path);
  return content === undefined ? undefined : Buffer.from(content).toString('utf8');
}

// ---------------------------------------------------------------- construction

/** @param place the names of the folders down to this one; names of entries are appended while they are processed */
function folder(value: unknown, place: string[]): Folder {
  if (place.length > MAX_PATH_PARTS) {
    throw new FileTreeError(
      `the folder "${shortPath(place.join('/'))}" lies more than ${String(MAX_PATH_PARTS)} folders deep`,
    );
  }
  const entries = new Map<string, FileNode>();
  if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      place.push(name);
      const node = nodeOf(child, place);
      place.pop();
      if (node) entries.set(name, node);
    }
  }
  return { kind: 'folder', entries };
}

/** Lists and null are ignored, as in upstream; numbers and booleans are files with their text. */
function nodeOf(value: unknown, place: string[]): FileNode | undefined {
  if (typeof value === 'string') return file(textContent(value));
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return file(Buffer.from(String(value)));
  if (!isObject(value)) return undefined;
  const payload = ownField(value, 'value');
  switch (ownField(value, '$type')) {
    case undefined:
      return folder(value, place);
    case 'directory':
      return folder(payload, place);
    case 'file':
      return file(Buffer.from(text(payload ?? ownField(value, 'binary'))));
    case 'symlink':
      return link(text(payload), place);
    case 'yaml':
      return file(Buffer.from(toYaml(payload ?? null)));
    case 'json':
      return file(Buffer.from(goJson(payload ?? null)));
    default:
      return undefined;
  }
}

function link(target: string, place: readonly string[]): FileNode {
  const problem = pathProblem(target);
  if (problem === undefined) return { kind: 'link', target };
  throw new FileTreeError(`the target of the symlink "${shortPath(place.join('/'))}" ${problem}`);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const file = (content: Uint8Array): FileNode => ({ kind: 'file', content });

function textContent(text: string): Uint8Array {
  const lines = text.trimEnd().split('\n');
  if (lines[0]?.trim() !== BINARY_START || lines.at(-1)?.trim() !== BINARY_END) return Buffer.from(text);
  return Buffer.from(lines.slice(1, -1).join(''), 'base64');
}

// ---------------------------------------------------------------- lookup

/** @param trail the folders from the root to this one */
function entriesOf(node: Folder, trail: readonly Folder[]): readonly FileEntry[] {
  let left = MAX_LISTING_STEPS;
  const follow = (target: string): Found['node'] | undefined => {
    const given = Math.min(MAX_STEPS, left);
    const budget = { steps: given };
    const found = find(trail, target, budget);
    left -= given - budget.steps;
    return found?.node;
  };
  return [...node.entries]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, child]) => {
      const real = child.kind === 'link' ? follow(child.target) : child;
      return {
        name,
        isDirectory: real?.kind === 'folder',
        isLink: child.kind === 'link',
        size: real?.kind === 'file' ? real.content.length : 0,
      };
    });
}

interface Found {
  readonly node: Exclude<FileNode, { kind: 'link' }>;
  /** The folders from the root to the node, or to its parent. */
  readonly trail: readonly Folder[];
}

/** A path during its resolution. */
interface Way {
  readonly parts: readonly string[];
  next: number;
}

/**
 * Resolves a path; `..` never leaves the root, and links are followed within it. Paths that are too long or contain
 * too many links do not resolve.
 * @param start the folders from the root to the one where relative paths begin
 * @param budget the maximum cost, from which the actual cost is subtracted
 */
function find(
  start: readonly Folder[],
  path: string,
  budget: { steps: number } = { steps: MAX_STEPS },
): Found | undefined {
  if (pathProblem(path) !== undefined) return undefined;
  const trail = path.startsWith('/') ? start.slice(0, 1) : [...start];
  // The path, and on top of it the unresolved targets of links, at most MAX_LINKS.
  const ways: Way[] = [{ parts: partsOf(path), next: 0 }];
  let links = 0;
  for (; budget.steps > 0; budget.steps--) {
    const here = trail.at(-1);
    const part = nextPart(ways);
    if (part === undefined) return here && { node: here, trail };
    if (part === '..') {
      if (trail.length > 1) trail.pop();
      continue;
    }
    const node = here?.entries.get(part);
    if (!node) return undefined;
    if (node.kind === 'file') return nextPart(ways) === undefined ? { node, trail } : undefined;
    if (node.kind === 'folder') trail.push(node);
    else {
      if (++links > MAX_LINKS) return undefined;
      if (node.target.startsWith('/')) trail.length = 1;
      budget.steps -= Math.floor(node.target.length / CHARACTERS_A_STEP);
      ways.push({ parts: partsOf(node.target), next: 0 });
    }
  }
  return undefined;
}

function nextPart(ways: Way[]): string | undefined {
  for (let way = ways.at(-1); way; way = ways.at(-1)) {
    const part = way.parts[way.next++];
    if (part !== undefined) return part;
    ways.pop();
  }
  return undefined;
}
