/** Copies a skeleton of this package into a new folder of the user. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, UsageError } from './errors.ts';

/**
 * Existing files are never overwritten.
 * @param from folder with the skeleton
 * @param to a folder that is empty or does not exist
 * @param renamed converts the text of each file
 * @throws UsageError if `to` is not empty, CommandError if it cannot be written
 */
export function writeSkeleton(from: string, to: string, renamed: (text: string) => string): void {
  const present = statSync(to, { throwIfNoEntry: false });
  if (present && !present.isDirectory())
    throw new UsageError(`${to} is a file; choose another folder with --to`);
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new UsageError(`${to} is not empty; choose another folder with --to`);
  try {
    copy(from, to, renamed);
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot write to ${to} (${code})`, { cause: error });
  }
}

function copy(from: string, to: string, renamed: (text: string) => string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (statSync(source).isDirectory()) copy(source, target, renamed);
    else writeFileSync(target, renamed(readFileSync(source, 'utf8')), { flag: 'wx' });
  }
}
