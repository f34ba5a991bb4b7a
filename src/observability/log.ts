/** The logger as the rest of the code sees it, and how it is made. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { pino, type Logger as PinoLogger } from 'pino';
import { exactJson, parseExactJson } from '../lib/exact-json.ts';

/** Structured logging: fields first, sentence second. */
export interface Logger {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
/** How much is said; each level says what those after it say, too. */
export type Level = (typeof levels)[number];

const runFields = new AsyncLocalStorage<() => object>();

/**
 * Every line logged inside `fn`, by whatever logger, carries `fields` too. They are asked for with each line, since most
 * runs log nothing.
 */
export const withLogFields = <T>(fields: () => object, fn: () => T): T => {
  const outer = runFields.getStore();
  return runFields.run(outer ? () => ({ ...outer(), ...fields() }) : fields, fn);
};

/**
 * A logger that writes lines of JSON, or text for people with `pretty`, each with the fields of the run that it
 * belongs to.
 * @param options.pretty readable lines for a terminal instead of JSON
 * @param options.destination where lines go; default standard error
 */
export function createLogger(options: {
  level: Level;
  pretty?: boolean;
  destination?: NodeJS.WritableStream;
}): Logger {
  const destination = options.destination ?? process.stderr;
  const base = {
    level: options.level,
    base: null,
    // A copy: pino writes the fields of the line into it.
    mixin: () => ({ ...runFields.getStore()?.() }),
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
  const logger: PinoLogger = options.pretty ? pino(base, prettyStream(destination)) : pino(base, destination);
  return logger;
}

/** A logger that says nothing, for tests and commands whose output is the product. */
export const silentLogger: Logger = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

function prettyStream(destination: NodeJS.WritableStream): { write(line: string): void } {
  return {
    write(line: string) {
      const { level, time, msg, ...rest } = parseExactJson(line) as Record<string, unknown>;
      const details = Object.entries(rest)
        .map(([key, value]) => `${key}=${typeof value === 'string' ? value : exactJson(value)}`)
        .join(' ');
      destination.write(
        `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${String(msg)}${details ? `  ${details}` : ''}\n`,
      );
    },
  };
}
