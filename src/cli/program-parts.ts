/** What commands have in common: options for clusters and logs, the examples on help pages. */
import { Option, type Command } from 'commander';

/** What a command's action answers: an exit code, or nothing for success. */
export type Exit = number | undefined;

/** The section at the end of a help page: what a command is good for, and the command. */
export const examples = (rows: readonly (readonly [command: string, purpose: string])[]): string =>
  `\nExamples:\n${rows.map(([command, purpose]) => `  # ${purpose}\n  ${command}`).join('\n\n')}`;

/** Which cluster. */
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

/** Commands whose output is the product only know how to be verbose. */
export function addQuietLogOptions(command: Command): void {
  command.addOption(
    new Option('--log-level <level>', 'debug shows requests and stack traces').choices([
      'debug',
      'info',
      'error',
    ]),
  );
}
