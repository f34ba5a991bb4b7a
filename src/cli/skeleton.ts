/** Copies a skeleton of this package, or several on top of each other, into a new folder of the user. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CommandError, UsageError } from './errors.ts';

/**
 * Existing files are never overwritten.
 * @param from folders with skeletons; files of later ones replace those of earlier ones
 * @param without files that are not copied
 * @param to a folder that is empty or does not exist
 * @param renamed converts the text of each file
 * @throws UsageError if `to` is not empty, CommandError if it cannot be written
 */
export function writeSkeleton(
  from: readonly string[],
  to: string,
  renamed: (text: string) => string,
  without: readonly string[] = [],
): void {
  const present = statSync(to, { throwIfNoEntry: false });
  if (present && !present.isDirectory())
    throw new UsageError(`${to} is a file; choose another folder with --to`);
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new UsageError(`${to} is not empty; choose another folder with --to`);
  try {
    for (const [path, source] of filesOf(from)) {
      if (without.includes(path)) continue;
      const target = join(to, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, renamed(readFileSync(source, 'utf8')), { flag: 'wx' });
    }
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot write to ${to} (${code})`, { cause: error });
  }
}

/** The files of all folders: path in the new folder → source. */
const filesOf = (folders: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((source): [string, string] => [relative(folder, source), source]),
    ),
  );
