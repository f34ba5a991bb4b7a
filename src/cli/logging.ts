/** Creates the logger for the options of a command. */
import { createLogger, type Level, type Logger } from '../observability/log.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface LogOptions {
  readonly logLevel?: Level;
  readonly logFormat?: 'text' | 'json';
}

/**
 * Text on a terminal, JSON otherwise, unless the options say otherwise.
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

/** With log level debug, errors show their stack traces. */
export function applyVerbosity(terminal: Terminal, options: LogOptions): void {
  if (options.logLevel === 'debug' || options.logLevel === 'trace') terminal.isVerbose = true;
}
