/** Paths with slashes, with the rules of Go's `path`; the `os…` variants are the same on Linux. */
import type { FunctionTable } from '../env.ts';
import { fn } from '../signature.ts';
import { trimmedEnd } from '../../../lib/trim.ts';

function cleanPath(path: string): string {
  const isRooted = path.startsWith('/');
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') out.push(part);
    else if (out.length > 0 && out.at(-1) !== '..') out.pop();
    else if (!isRooted) out.push('..');
  }
  return (isRooted ? '/' : '') + out.join('/') || '.';
}

function base(path: string): string {
  if (path === '') return '.';
  const trimmed = trimmedEnd(path, '/');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function ext(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

const functions = {
  base: fn('string', base),
  dir: fn('string', (path: string) => cleanPath(path.slice(0, path.lastIndexOf('/') + 1))),
  clean: fn('string', cleanPath),
  ext: fn('string', ext),
  isAbs: fn('string', (path: string) => path.startsWith('/')),
} as const;

export const pathFunctions: FunctionTable = {
  ...functions,
  osBase: functions.base,
  osDir: functions.dir,
  osClean: functions.clean,
  osExt: functions.ext,
  osIsAbs: functions.isAbs,
};
