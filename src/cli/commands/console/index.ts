/** `espalier console`. */
import type { Command } from 'commander';
import type { ConsoleCommandOptions } from './console.ts';
import { port } from '../../terminal/options.ts';
import { addClusterOptions, addQuietLogOptions, examples } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addConsoleCommand(program: Command, terminal: Terminal): void {
  const console = program
    .command('console')
    .summary('show landscapes in the browser')
    .description(
      'Serves a web console on 127.0.0.1 until Ctrl-C, with the rights of your kubeconfig, and opens the browser. ' +
        'It shows landscapes live, says what holds an object, and can reconcile, interrupt and delete.',
    )
    .option(
      '-n, --namespace <name>',
      'only this namespace; default: all, or that of the kubeconfig if you may not list all',
    )
    .option('--port <number>', 'port of the console; default 8082, or any free one if it is in use', port)
    .option('--no-open', 'print the link, do not open the browser')
    .addHelpText(
      'after',
      examples([
        ['espalier console', 'all landscapes of the cluster'],
        ['espalier console -n shop --no-open', 'one namespace; open the printed link yourself'],
      ]),
    )
    .action(async (options: ConsoleCommandOptions) => {
      const { serveConsole } = await import('./console.ts');
      await serveConsole(options, terminal);
    });
  addQuietLogOptions(addClusterOptions(console));
}
