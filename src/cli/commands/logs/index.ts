/** `espalier logs`. */
import { Option, type Command } from 'commander';
import type { LogsOptions } from './logs.ts';
import { POD_LABELS } from '../../names.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addLogsCommand(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const logs = program
    .command('logs')
    .argument('[name]', 'root installation; default: all lines')
    .summary('show what the controllers logged about a landscape')
    .description(
      'Shows the log lines about a root installation and all objects below it, from all pods of Espalier, ordered by time ' +
        '(UTC). Or reads a log in the JSON format from a file.',
    )
    .option(
      '-n, --namespace <name>',
      "namespace of the root; default that of the kubeconfig's context; any with --file or without a name",
    )
    .option('-f, --follow', 'also show new lines, until Ctrl-C or until the pods end')
    .option('--since <duration>', 'only lines of this last period, such as 10m or 2h')
    .addOption(
      new Option('--level <level>', 'only lines of this level or more severe ones')
        .choices(['trace', 'debug', 'info', 'warn', 'error'])
        .default('trace'),
    )
    .option('--job <id>', 'only lines of this job: its id, or the beginning of it')
    .addOption(
      new Option('-o, --output <format>', 'text, or the JSON lines unchanged')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('--file <file>', 'read the log from this file instead of pods; - for standard input')
    .option('--system-namespace <name>', 'namespace of the pods', 'ls-system')
    .option('--selector <labels>', 'labels of the pods; for deployers of your own', POD_LABELS)
    .addHelpText(
      'after',
      examples([
        ['espalier logs web -n shop --since 10m', 'the last ten minutes of a landscape'],
        ['espalier logs web -n shop -f --level warn', 'follow its problems'],
        ['espalier logs --level error', 'all errors'],
        ['espalier logs web --file dev.log', 'from a file, such as that of: espalier dev 2> dev.log'],
      ]),
    )
    .action(async (name: string | undefined, options: LogsOptions) => {
      const { logs: run } = await import('./logs.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(logs));
}
