/** Files that a kubeconfig refers to, and errors about files that cannot be read. */
import { readFile } from 'node:fs/promises';
import { KubeconfigError } from '../errors.ts';

export async function readText(file: string, what: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw unreadable(`${what} ${file}`, error, 'check the path and its permissions');
  }
}

export function unreadable(what: string, error: unknown, wayOut: string): KubeconfigError {
  const code = (error as NodeJS.ErrnoException).code;
  const why =
    code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'permission denied' : (code ?? 'error');
  return new KubeconfigError({ message: `cannot read ${what}: ${why}; ${wayOut}`, cause: error });
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
