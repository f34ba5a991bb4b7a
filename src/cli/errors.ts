/** What ends a command with one line instead of a stack trace, and with which exit code. */

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** The command was called wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = exitCodes.usage;
}

/** The command was right, but could not be carried out. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode = exitCodes.failed;
}
