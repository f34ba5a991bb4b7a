/** Builds the program of a folder with a go.mod, once for each state of its sources, into a cache outside the tree. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../executable.ts';
import { buildGo, GoUnavailable, hasGo, programCache } from './build.ts';

export interface GoModule {
  /** Of the program, and of its folder in the cache. */
  readonly name: string;
  readonly folder: string;
}

function target({ name, folder }: GoModule): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) {
    if (/\.go$|^go\.(mod|sum)$/.test(file)) hash.update(readFileSync(join(folder, file)));
  }
  return programCache(name, hash.digest('hex').slice(0, 16), name);
}

/** The built program; undefined if it has to be built. */
export const findGoModule = (module: GoModule): string | undefined => [target(module)].find(isExecutable);

/**
 * @param say called before a program is built
 * @returns its path
 * @throws GoUnavailable
 */
export function ensureGoModule(module: GoModule, say: (line: string) => void): string {
  const path = target(module);
  if (isExecutable(path)) return path;
  if (!hasGo()) throw new GoUnavailable(`go is not on the PATH, which is needed to build ${module.name}`);
  say(`building ${module.name} into ${path} (some minutes, once)`);
  buildGo(path, { folder: module.folder, goPackage: '.' });
  return path;
}
