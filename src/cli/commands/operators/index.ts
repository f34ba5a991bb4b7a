/** Commands for authors of operators. */
import type { Command } from 'commander';
import { examples } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { NewOperatorOptions } from './new.ts';

export function addOperatorCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('operators')
    .alias('operator')
    .summary('write operators of your own')
    .description('For authors of operators. See docs/runtime.md.');
  group
    .command('new')
    .argument('<name>', 'name of the operator, such as dns-record')
    .summary('write the skeleton of an operator')
    .description(
      'Writes a working operator in TypeScript into a folder: its kind with the CustomResourceDefinition, tests in virtual ' +
        'time, and an image.',
    )
    .option('--to <folder>', 'destination; default a folder with its name')
    .option('--group <domain>', 'API group of the kind; default example.org')
    .option('--kind <Kind>', 'kind that it reconciles; default the name, as in DnsRecord')
    .option('--plural <name>', 'plural in URLs and for kubectl; default an English plural of the kind')
    .option(
      '--versions <list>',
      'one or two versions of the kind, the older first; the operator works with the last one, and converts; default v1alpha1',
    )
    .option(
      '--external',
      'its objects represent resources in another service: observe, create, update and delete them',
    )
    .addHelpText(
      'after',
      examples([
        ['espalier operators new dns-record --group dns.example.com', 'then: npm install && npm test'],
        ['espalier operators new dns-record --versions v1alpha1,v1', 'with conversion between two versions'],
        ['espalier operators new mailbox --external', 'for resources in another service'],
      ]),
    )
    .action(async (name: string, options: NewOperatorOptions) => {
      const { newOperator } = await import('./new.ts');
      newOperator(name, options, terminal);
    });
}
