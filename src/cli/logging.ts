/** The logger that the options of a command ask for. */
import { createLogger, type Level, type Logger } from '../observability/log.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface LogOptions {
  readonly logLevel?: Level;
  readonly logFormat?: 'text' | 'json';
}

/**
 * Lines for people on a terminal, JSON elsewhere, unless the options say otherwise.
 * @param destination default standard error
 */
export function loggerFor(
  options: LogOptions,
  defaults: { readonly level: Level; readonly format?: 'text' | 'json' },
  destination: NodeJS.WritableStream = process.stderr,
): Logger {
  const isTerminal = process.stderr.isTTY;
  const format = options.logFormat ?? defaults.format ?? (isTerminal ? 'text' : 'json');
  return createLogger({
    level: options.logLevel ?? defaults.level,
    pretty: format === 'text',
    destination,
  });
}

/** Debugging asks for stack traces too. */
export function applyVerbosity(terminal: Terminal, options: LogOptions): void {
  if (options.logLevel === 'debug' || options.logLevel === 'trace') terminal.isVerbose = true;
}
