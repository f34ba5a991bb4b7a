/** The files of a blueprint: read-only, and nothing outside its root can be reached. */
export {
  FileTreeError,
  inlineFileTree,
  readText,
  type FileEntry,
  type FileTree as BlueprintFs,
} from '../lib/file-tree.ts';
