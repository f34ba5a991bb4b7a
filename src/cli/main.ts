#!/usr/bin/env node
/** Entry point of the command `espalier`. */
import { setFlagsFromString } from 'node:v8';
import { reportError } from './report-error.ts';
import { CommandError, exitCodes } from './errors.ts';
import { runProgram } from './program.ts';
import { systemTerminal } from './terminal/terminal.ts';

const terminal = systemTerminal();

// undici parses responses in WebAssembly. Before version 13, V8 optimizes the parser during the first few responses, and
// Node.js cannot exit until that has ended: commands took 90 ms longer. With this budget, only servers get that far.
if (Number.parseInt(process.versions.v8) < 13) setFlagsFromString('--wasm-tiering-budget=1000000000');

// Most of what a busy controller allocates is garbage. By default V8 lets it grow to a multiple of what is in use.
setFlagsFromString('--heap-growing-percent=30');

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
