/** Runs programs; a failure ends the release. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export class ReleaseError extends Error {}

const root = join(import.meta.dirname, '../..');
const MAX_OUTPUT = 256 * 2 ** 20;

/** @throws ReleaseError if the program is missing or fails */
export function run(program: string, args: readonly string[], cwd: string): void {
  checked(program, args, spawnSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] }));
}

/** @returns what the program prints. @throws ReleaseError if it is missing or fails */
export function output(program: string, args: readonly string[], input = ''): string {
  const options = { cwd: root, encoding: 'utf8', input, maxBuffer: MAX_OUTPUT } as const;
  const result = spawnSync(program, args, options);
  checked(program, args, result);
  return result.stdout;
}

/**
 * Writes a tar archive that depends on nothing but the content of the files.
 * @param from a folder, the entry in it to pack (default: everything), and the time of all files in seconds since 1970
 * @throws ReleaseError
 */
export function archive(
  file: string,
  from: { readonly folder: string; readonly entry?: string; readonly date: string },
): void {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rw,go+r,go-w'];
  const order = ['--sort=name', `--mtime=@${from.date}`];
  run('tar', [...owner, ...order, '-C', from.folder, '-cf', file, from.entry ?? '.'], root);
}

/** Whether the program is installed. */
export const isInstalled = (program: string): boolean =>
  spawnSync(program, ['--version']).error === undefined;

interface Result {
  readonly status: number | null;
  readonly error?: Error | undefined;
  readonly stderr?: string | Buffer | null;
}

function checked(program: string, args: readonly string[], { status, error, stderr }: Result): void {
  if (status === 0) return;
  const why = error?.message ?? (stderr?.toString().trim() || `exit code ${String(status)}`);
  throw new ReleaseError(`${program} ${args.join(' ')} failed: ${why}`);
}
