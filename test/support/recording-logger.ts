/** A logger that keeps what it is given. */
import type { Logger } from '../../src/observability/log.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

/** @returns a logger, and the lines that were written to it and to its children */
export function recordingLogger(): { readonly log: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const loggerWith = (common: object): Logger => {
    const at =
      (level: string) =>
      (fields: object, message: string): void => {
        lines.push({ level, message, fields: { ...common, ...fields } });
      };
    return {
      trace: at('trace'),
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => loggerWith({ ...common, ...fields }),
    };
  };
  return { log: loggerWith({}), lines };
}
