#!/usr/bin/env node
/** Entry point of the command `espalier`. */
import { complain } from './complain.ts';
import { exitCodes } from './errors.ts';
import { runProgram } from './program.ts';
import { systemTerminal } from './terminal.ts';

const terminal = systemTerminal();

process.on('uncaughtException', (error) => {
  process.exit(complain(terminal, error));
});
// A reader that has seen enough (`espalier crds | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : complain(terminal, error));
});

process.exitCode = await runProgram(process.argv.slice(2), terminal);
