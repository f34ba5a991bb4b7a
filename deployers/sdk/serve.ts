/** `serve`: the main function of a deployer that is a separate program. */
import { createLogger } from '../../src/observability/log.ts';
import { TracingSettingsError } from '../../src/observability/tracing/settings.ts';
import { EspalierError } from '../../src/runtime/errors.ts';
import { aborted, onInterrupt } from '../../src/runtime/manager/signals.ts';
import type { DeployerPlugin } from './deployer.ts';
import { startDeployer, type DeployerProcessOptions } from './process.ts';
import { helpOf, readServeOptions, WrongOptions } from './serve-options.ts';
import { SettingsError } from './settings.ts';

/**
 * Runs a deployer until SIGTERM or Ctrl-C. Invalid options are reported in one line on standard error, with exit code
 * 2; later errors in one line with exit code 1.
 * @param args without the program and the script
 */
export async function serve<C, S>(
  plugin: DeployerPlugin<C, S>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  try {
    const notes: string[] = [];
    const wanted = readServeOptions(args, undefined, (problem) => notes.push(problem));
    if (wanted === 'help') process.stdout.write(helpOf(plugin));
    else {
      const log = createLogger({ level: wanted.level, pretty: process.stderr.isTTY });
      for (const problem of notes) log.warn({ problem }, 'configuration key has no effect');
      await run(plugin, { ...wanted, log, tracing: {} });
    }
  } catch (error) {
    const isMistake =
      error instanceof WrongOptions ||
      error instanceof SettingsError ||
      error instanceof TracingSettingsError;
    if (!isMistake && !(error instanceof EspalierError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = isMistake ? 2 : 1;
  }
}

async function run<C, S>(plugin: DeployerPlugin<C, S>, wanted: DeployerProcessOptions): Promise<void> {
  const interruption = onInterrupt();
  try {
    const deployer = await startDeployer(plugin, wanted);
    const { health } = deployer;
    wanted.log?.info({ type: plugin.type, ...(health !== undefined && { health }) }, 'serving');
    await aborted(interruption.signal);
    await deployer.stop();
  } finally {
    interruption.release();
  }
}
