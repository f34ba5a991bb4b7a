/** The package of this code: its version, and the files next to package.json. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { API_VERSION } from '../api/labels.ts';
import { CommandError } from './errors.ts';

interface PackageInfo {
  readonly folder: string;
  readonly version: string;
}

/** The distance to package.json differs between sources and compiled files. */
export function packageInfo(): PackageInfo {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file)) {
      const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
      return { folder, version };
    }
    if (folder === dirname(folder)) throw new CommandError(`no package.json above ${import.meta.dirname}`);
  }
}

/** Output of `espalier version` and `espalier --version`. */
export const versionText = (): string =>
  `Espalier ${packageInfo().version} (Node.js ${process.version}, ${process.platform}/${process.arch}), serving ${API_VERSION}`;

/** @throws CommandError if the package does not contain the folder */
export function packageFolder(path: string): string {
  const folder = join(packageInfo().folder, path);
  if (!existsSync(folder))
    throw new CommandError(`folder ${path} is missing in this installation of Espalier`);
  return folder;
}
