/** Finds the files with landscape tests: those whose names end with `.test.yaml`, in a folder and all folders below. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { isTestFile } from './names.ts';

/** Folders that never contain tests of a landscape. */
const isSkipped = (name: string): boolean => name.startsWith('.') || name === 'node_modules';

/**
 * @param paths folders, and files with any name
 * @throws UsageError if a path does not exist, or there is no test
 */
export function testFilesAt(paths: readonly string[]): readonly string[] {
  const files = paths.flatMap((path) => {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (!facts) throw new UsageError(`there is no file or folder ${path}`);
    return facts.isDirectory() ? testFilesBelow(path) : [path];
  });
  if (files.length > 0) return [...new Set(files)];
  throw new UsageError(
    `there is no test in ${paths.join(', ')}; write one into a file whose name ends with .test.yaml, see docs/landscape-tests.md`,
  );
}

function testFilesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries.filter((entry) => !entry.isDirectory() && isTestFile(entry.name));
  const folders = entries.filter((entry) => entry.isDirectory() && !isSkipped(entry.name));
  return [
    ...files.map(({ name }) => join(folder, name)),
    ...folders.flatMap(({ name }) => testFilesBelow(join(folder, name))),
  ];
}
