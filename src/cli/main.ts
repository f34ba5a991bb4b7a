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
// A reader that has seen enough (`espalier crds | head`) is no failure.
process.stdout.on('error', ({ code = 'error', message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(exitCodes.ok);
  process.exit(
    reportError(terminal, new CommandError(`cannot write to standard output (${code})`, { cause: message })),
  );
});
// Nobody can be told; what the command does, and how it ends, stays the same.
process.stderr.on('error', () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), terminal);
