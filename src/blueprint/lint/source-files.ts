/** The files of a blueprint with their positions: from a folder, or from the YAML that contains them. */
import { fileTreeOf, inlineFileTree, readText, type FileTree } from '../../lib/file-tree.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { Source } from './source.ts';
import type { YamlText } from './yaml-text.ts';

export interface SourceFiles {
  readonly tree: FileTree;
  /** Of all files, without a leading `/`, in order. */
  readonly paths: readonly string[];
  /** Undefined if there is no such file. */
  source(path: string): Source | undefined;
}

/**
 * @param contents by path below the folder
 * @param fileName of a path, for messages
 */
export function sourceFilesOf(
  contents: ReadonlyMap<string, Uint8Array>,
  fileName: (path: string) => string,
): SourceFiles {
  const tree = fileTreeOf(contents);
  return withSources(tree, (path, text) => new Source(fileName(path), text));
}

/** @param filesystem the value in `document` */
export function sourceFilesIn(document: YamlText, filesystem: unknown): SourceFiles {
  const tree = inlineFileTree(filesystem);
  return withSources(tree, (path, text) => {
    const steps = path.split('/');
    const node = steps.reduce<unknown>((at, step) => ownField(at, step), filesystem);
    const written = isObject(node) ? [...steps, 'value'] : steps;
    return document.textAt(written, text) ?? new Source(`${path} in ${document.source.file}`, text);
  });
}

function withSources(tree: FileTree, make: (path: string, text: string) => Source): SourceFiles {
  const known = new Map<string, Source>();
  return {
    tree,
    paths: pathsOf(tree),
    source(path) {
      const plain = plainPath(path);
      const text = readText(tree, plain);
      if (text === undefined) return undefined;
      const source = known.get(plain) ?? make(plain, text);
      known.set(plain, source);
      return source;
    },
  };
}

/** Without `.`, `..` and slashes at both ends. */
function plainPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

function pathsOf(tree: FileTree, folder = ''): readonly string[] {
  return (tree.list(folder) ?? []).flatMap(({ name, isDirectory, isLink }) => {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (!isDirectory) return [path];
    return isLink ? [] : pathsOf(tree, path);
  });
}
