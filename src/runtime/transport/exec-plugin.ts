/** The command of a kubeconfig that prints credentials: what is run, and errors that say what to do. */
import { isAbsolute, join } from 'node:path';
import { cutBetweenWords } from '../../lib/cut.ts';
import { isObject, type Fields, table } from '../../lib/objects.ts';
import { printable } from '../../lib/printable.ts';
import { KubeconfigError } from '../errors.ts';

/** A command with a slash is relative to the kubeconfig, as its files are; others are looked up in PATH. */
export function withAbsoluteCommand(user: Fields, folder: string): Fields {
  const { exec } = user;
  if (!isObject(exec) || typeof exec['command'] !== 'string') return user;
  const command = exec['command'];
  if (!/[\\/]/.test(command) || isAbsolute(command)) return user;
  return { ...user, exec: { ...exec, command: join(folder, command) } };
}

/**
 * The command as it is run: plugins read from the environment that there is no terminal for them.
 * @throws KubeconfigError if there is no command
 */
export function runnable(exec: unknown): Fields {
  const fields = isObject(exec) ? exec : {};
  if (typeof fields['command'] !== 'string' || fields['command'] === '')
    throw new KubeconfigError({
      message: "the kubeconfig's user has an exec without a command; add it, or remove exec",
    });
  const { apiVersion = 'client.authentication.k8s.io/v1', env } = fields;
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const own = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) };
  return { ...fields, env: [own, ...(Array.isArray(env) ? (env as unknown[]) : [])] };
}

/** The error of a command that did not run, failed, or printed something else than credentials. */
export function commandFailed(exec: Fields, error: unknown): KubeconfigError {
  const name = String(exec['command']);
  const { code } = error as NodeJS.ErrnoException;
  const why = code === undefined ? failure(error) : (REASONS[code] ?? code);
  const advice = code === undefined ? `run it to see more: ${printable(name)}` : installation(exec);
  return new KubeconfigError({
    message: `the command ${printable(name)}, which the kubeconfig uses to get credentials, ${why}; ${advice}`,
    cause: error,
  });
}

const REASONS: Readonly<Record<string, string>> = table({
  ENOENT: 'was not found',
  EACCES: 'is not executable',
  ENOTDIR: 'was not found',
  EISDIR: 'is a folder',
});

const MAX_LETTERS = 500;

/** Plugins explain themselves on standard error, which is the message of the error. */
function failure(error: unknown): string {
  // What was printed may be a token in an unexpected form.
  if (error instanceof SyntaxError || error instanceof TypeError) return 'did not print an ExecCredential';
  const said = cutBetweenWords(printable((error as Error).message.trim().replace(/\s+/g, ' ')), MAX_LETTERS);
  return said === '' ? 'failed without a message' : `failed: ${said}`;
}

const installation = ({ installHint }: Fields): string =>
  typeof installHint === 'string' && installHint.trim() !== ''
    ? cutBetweenWords(printable(installHint.trim().replace(/\s+/g, ' ')), MAX_LETTERS)
    : 'install it, and check PATH or the path in the kubeconfig';
