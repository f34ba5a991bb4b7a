/** `runOperator`: the main function of an operator that is a program of its own. */
import { HealthPortError } from '../../observability/health.ts';
import { createLogger, type Level } from '../../observability/log.ts';
import { EspalierError } from '../errors.ts';
import { aborted, onInterrupt } from '../manager/signals.ts';
import { startOperator, type OperatorOptions } from './start-operator.ts';

/**
 * Runs an operator until SIGTERM or Ctrl-C; a second signal ends the process at once. The log goes to standard error. An
 * operator that cannot start, or loses its lease, is stopped: the error is one line on standard error, and the exit code 1.
 * So is that of an operator that abandoned reconciles when it stopped.
 * @param options.level of the log, default `info`; `log` takes precedence
 * @throws what `add` throws, unless it is an error of the runtime
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
