/** Reports any error as one line on standard error with a hint, and returns an exit code. */
import { table } from '../lib/objects.ts';
import { exitCodes } from './errors.ts';
import type { Terminal } from './terminal/terminal.ts';
import { selfCommand } from './self-command.ts';

/** Writes the line and returns the exit code. */
export function reportError(terminal: Terminal, error: unknown): number {
  terminal.warn(`${terminal.paintError.red('error:')} ${lineFor(error)}`);
  if (terminal.isVerbose && error instanceof Error && error.stack) terminal.warn(error.stack);
  return (error as { readonly exitCode?: number } | undefined)?.exitCode ?? exitCodes.failed;
}

/** One line without line breaks. */
export function lineFor(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const message = oneLine(error.message);
  const hint = hintFor(error);
  return hint ? `${message}; ${hint}` : message;
}

/** Hints by class name, so that no command's code has to be loaded. */
const hints: Readonly<Record<string, string>> = table({
  TransportError: 'check that the server is running and --kubeconfig is correct',
  Unauthorized: 'renew the credentials in the kubeconfig, or choose another --context',
  HealthPortError: 'choose another address with --metrics-address',
  WebhookPortError: 'choose another one with --host and --port',
  CrdsNotApplied: `check that the API server is healthy and that no other program keeps writing the definition, or skip it with --no-crds (crdManagement.deployCrd: false) and install the definitions with: ${selfCommand()} crds | kubectl apply --server-side --force-conflicts -f -`,
  Forbidden: 'request that permission, or choose another --context',
});
const builtIn = ['Error', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'];

function hintFor(error: Error): string | undefined {
  if (isKindUnknown(error))
    return `install the definitions with: ${selfCommand()} crds | kubectl apply --server-side -f -`;
  // Errors of the system (ENOENT, EADDRINUSE…) and our own classes need no further explanation.
  if ('code' in error || !builtIn.includes(error.name)) return hints[error.name];
  return 'this is unexpected; run the command with --log-level debug for details';
}

/**
 * A 404 for the path instead of an object: the server does not serve the kind, or (without a message of its own) no kind
 * of the group.
 */
export const isKindUnknown = (error: Error): boolean =>
  error.name === 'NotFound' &&
  /could not find the requested resource|does not serve this kind|the server answered 404$/.test(
    error.message,
  );

const oneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
