/** Parts that commands share: options for clusters and logs, and examples on help pages. */
import { Option, type Command } from 'commander';

/** The result of a command: an exit code, or undefined for success. */
export type Exit = number | undefined;

/** The section at the end of a help page: purpose and command of each example. */
export const examples = (rows: readonly (readonly [command: string, purpose: string])[]): string =>
  `\nExamples:\n${rows.map(([command, purpose]) => `  # ${purpose}\n  ${command}`).join('\n\n')}`;

/** Options that select the cluster. */
export function addClusterOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster; default KUBECONFIG')
    .option('--context <name>', 'context of the kubeconfig; default its current one');
}

export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log-level <level>', 'how much to log').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .addOption(
      new Option('--log-format <format>', 'default text on a terminal, else json').choices(['text', 'json']),
    );
}

/** Log options of commands that do not log by default; they only have a verbose mode. */
export function addQuietLogOptions(command: Command): void {
  command.addOption(
    new Option('--log-level <level>', 'debug shows requests and stack traces').choices([
      'debug',
      'info',
      'error',
    ]),
  );
}
