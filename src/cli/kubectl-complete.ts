#!/usr/bin/env node
/** Entry point of `kubectl_complete-espalier`, which kubectl runs to complete `kubectl espalier …`. */
import { COMPLETE } from './completion/script.ts';
import { runProgram } from './program.ts';
import { systemTerminal } from './terminal/terminal.ts';

process.exitCode = await runProgram([COMPLETE, ...process.argv.slice(2)], systemTerminal());
