/** The logger interface, and its implementation. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type * as Pino from 'pino';
import { parseExactJson } from '../lib/exact-json.ts';
import { textOf, type LogLine } from './log-text.ts';

/** Structured logging: fields first, message second. */
export interface Logger {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
/** Log levels; each level includes the levels after it. */
export type Level = (typeof levels)[number];

const runFields = new AsyncLocalStorage<() => object>();

/**
 * Adds `fields` to every line that is logged inside `fn`, by any logger. The function is called for each line,
 * since most reconciles log nothing.
 */
export const withLogFields = <T>(fields: () => object, fn: () => T): T => {
  const outer = runFields.getStore();
  return runFields.run(outer ? () => ({ ...outer(), ...fields() }) : fields, fn);
};

/**
 * Creates a logger that writes JSON lines, or text with `pretty`. Each line contains the fields of the reconcile
 * that it belongs to.
 * @param options.pretty short lines for a terminal instead of JSON; at level debug, errors show their stack
 * @param options.destination stream for the lines; default standard error
 */
export function createLogger(options: {
  level: Level;
  pretty?: boolean;
  destination?: NodeJS.WritableStream;
}): Logger {
  const { pino } = loadPino();
  const destination = options.destination ?? process.stderr;
  const base = {
    level: options.level,
    base: null,
    // A copy, because pino writes the fields of the line into the object.
    mixin: () => ({ ...runFields.getStore()?.() }),
    formatters: { level: (label: string) => ({ level: label }), log: withShortFields },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
  const logger: Pino.Logger = options.pretty
    ? pino(base, textStream(destination, options.level))
    : pino(base, destination);
  return logger;
}

/** Users write some values, such as job ids, and a field is in every line of a reconcile. */
const MAX_FIELD_CHARACTERS = 4096;

const withShortFields = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.values(fields).some(isLong)
    ? Object.fromEntries(
        Object.entries(fields).map(([key, value]) => [key, isLong(value) ? cut(value) : value]),
      )
    : fields;

const isLong = (value: unknown): value is string =>
  typeof value === 'string' && value.length > MAX_FIELD_CHARACTERS;

const cut = (text: string): string =>
  `${text.slice(0, MAX_FIELD_CHARACTERS)}… (${String(text.length)} characters)`;

/** Most commands write no log, and importing pino would delay them. */
const loadPino = (): typeof Pino => createRequire(import.meta.url)('pino') as typeof Pino;

/** A logger that writes nothing, for tests and for commands that do not log. */
export const silentLogger: Logger = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

function textStream(destination: NodeJS.WritableStream, level: Level): { write(line: string): void } {
  const style = { hasStacks: level === 'debug' || level === 'trace' };
  return {
    write(line: string) {
      destination.write(`${textOf(parseExactJson(line) as LogLine, style)}\n`);
    },
  };
}
