#!/usr/bin/env node
/** Entry point of the command `espalier`. */
import { reportError } from './report-error.ts';
import { CommandError, exitCodes } from './errors.ts';
import { runProgram } from './program.ts';
import { systemTerminal } from './terminal/terminal.ts';

const terminal = systemTerminal();

process.on('uncaughtException', (error) => {
  process.exit(reportError(terminal, error));
});
// It is not an error if the reader closes the pipe (`espalier crds | head`).
process.stdout.on('error', ({ code = 'error', message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(exitCodes.ok);
  process.exit(
    reportError(terminal, new CommandError(`cannot write to standard output (${code})`, { cause: message })),
  );
});
// A failure cannot be reported here; command and exit code do not change.
process.stderr.on('error', () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), terminal);
