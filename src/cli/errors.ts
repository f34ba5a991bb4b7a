/** Errors that end a command with one line instead of a stack trace, and their exit codes. */

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = exitCodes.usage;
}

/** The command line is valid, but the command failed. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode = exitCodes.failed;
}
