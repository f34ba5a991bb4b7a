/** Where commands find components: archives on disk, and registries with the credentials of `docker login`. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { Credentials, dockerCredentials } from '../../../components/credentials.ts';
import { filesOfArchive } from '../../../components/ctf.ts';
import { filesOnDisk, type Files } from '../../../components/files.ts';
import { UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface RegistryOptions {
  readonly plainHttp?: boolean;
  readonly dockerConfig?: string;
}

export const MAX_FILE_BYTES = 256 * 2 ** 20;

/** The files of a transport archive, or of a folder. @throws ContentInvalid */
export async function archiveAt(path: string): Promise<Files> {
  if (isFolder(path)) return filesOnDisk(path, MAX_FILE_BYTES);
  return filesOfArchive(readFileSync(path), basename(path));
}

/** The credentials of `docker login`. */
export function credentials({ dockerConfig }: RegistryOptions, { env }: Terminal): Credentials {
  const file = dockerConfig ?? join(env['DOCKER_CONFIG'] ?? join(homedir(), '.docker'), 'config.json');
  if (!existsSync(file)) {
    if (dockerConfig !== undefined) throw new UsageError(`there is no file ${dockerConfig}`);
    return Credentials.none;
  }
  return dockerCredentials(readFileSync(file, 'utf8'), file);
}

export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

export const counted = (count: number, noun: string): string =>
  `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
