/** `runOperator`: the main function of a program that is an operator. */
import { HealthPortError } from '../../observability/health.ts';
import { createLogger, type Level } from '../../observability/log.ts';
import { EspalierError } from '../errors.ts';
import { aborted, onInterrupt } from '../manager/signals.ts';
import { startOperator, type OperatorOptions } from './start-operator.ts';

/**
 * Runs an operator until SIGTERM or Ctrl-C; a second signal ends the process at once. The log is written to standard
 * error. If the operator cannot start or loses its lease, it stops: the error is one line on standard error, and the
 * exit code is 1. The exit code is also 1 if reconciles had to be abandoned at the stop.
 * @param options.level of the log, default `info`; `log` takes precedence
 * @throws errors of `add`, unless they are errors of the runtime
 */
export async function runOperator(options: OperatorOptions & { readonly level?: Level }): Promise<void> {
  const { log = createLogger({ level: options.level ?? 'info', pretty: process.stderr.isTTY }) } = options;
  const interruption = onInterrupt();
  try {
    const operator = await startOperator({ ...options, log });
    const { health } = operator;
    log.info({ operator: options.name, ...(health !== undefined && { health }) }, 'starting');
    await Promise.race([aborted(interruption.signal), operator.ended]);
    if ((await operator.stop()) > 0) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof EspalierError || error instanceof HealthPortError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  } finally {
    interruption.release();
  }
}
