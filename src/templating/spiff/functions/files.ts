/** Lists names of files in the blueprint; the evaluator implements `read`. */
import { quoteString } from '../../go/quote.ts';
import type { TemplateFiles } from '../../files.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import { isSpiffList, type SpiffValue } from '../value.ts';
import { count, fail, text } from './arguments.ts';

/** What a function searches for. */
type Kind = 'file' | 'folder';

const exists = (files: TemplateFiles, path: string, kind: Kind): boolean =>
  (kind === 'folder' ? files.list(path) : files.read(path)) !== undefined;

function pathsOf(value: SpiffValue, place: number): string[] {
  const where = `lookup_file: argument ${String(place)} must be a`;
  if (typeof value === 'string') return [value];
  if (!isSpiffList(value)) return fail(`${where} string or a list of strings`);
  return value.filter((path) => path !== null).map((path) => text(path, `${where} list of strings`));
}

/** `lookup_file(name, folders…)`: every folder that contains it. */
const lookup =
  (kind: Kind): SpiffFunction =>
  (args, { files }) => {
    if (args.length < 2) fail('lookup_file requires at least two arguments');
    const folders = args.slice(1).flatMap(pathsOf);
    const name = text(args[0], 'lookup_file: first argument must be a string');
    if (name === '') fail('lookup_file: first argument is empty string');
    const places = name.startsWith('/')
      ? [name]
      : folders.filter((folder) => folder !== '').map((folder) => `${folder}/${name}`);
    return places.filter((path) => exists(files, path, kind));
  };

const namesIn =
  (kind: Kind): SpiffFunction =>
  (args, { files }) => {
    count(args, 1, 1, 'list requires exactly one arguments');
    const path = text(args[0], 'list: argument must be a string');
    if (path === '') fail('list: argument is empty string');
    const entries = files.list(path) ?? fail(`list: ${quoteString(path)} is no directory or does not exist`);
    return entries.filter(({ isDirectory }) => isDirectory === (kind === 'folder')).map(({ name }) => name);
  };

export const fileFunctions: SpiffFunctionTable = {
  lookup_file: lookup('file'),
  lookup_dir: lookup('folder'),
  list_files: namesIn('file'),
  list_dirs: namesIn('folder'),
};
