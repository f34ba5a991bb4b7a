/** `espalier graph`. */
import { Option, type Command } from 'commander';
import type { GraphOptions } from './graph.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addGraphCommand(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const graph = program
    .command('graph')
    .summary('draw the data flow between root installations')
    .description(
      'Prints a graph of all root installations, with their phases, and with the data and targets that each imports ' +
        'from others. At most 500 installations are drawn. For the objects below one root: espalier inst inspect NAME -o dot.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('-A, --all-namespaces', 'roots of all namespaces')
    .addOption(
      new Option(
        '-o, --output <format>',
        'dot is for Graphviz, mermaid for Markdown, text and wide for people, the others for scripts',
      )
        .choices(['dot', 'mermaid', 'text', 'wide', 'name', 'json', 'yaml'])
        .default('dot'),
    )
    .addHelpText(
      'after',
      examples([
        ['espalier graph -A | dot -Tsvg > landscapes.svg', 'as a picture, with Graphviz'],
        ['espalier graph -n shop -o mermaid', 'for Markdown'],
        ['espalier graph -n shop -o wide', 'as a table, with the names of the imports'],
      ]),
    )
    .action(async (options: GraphOptions) => {
      const { graph: run } = await import('./graph.ts');
      onExit(await run(options, terminal));
    });
  addQuietLogOptions(addClusterOptions(graph));
}
