/** `espalier plan`. */
import { Option, type Command } from 'commander';
import type { PlanOptions } from './plan.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addPlanCommand(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const plan = program
    .command('plan')
    .argument('<name>', 'installation, or deploy item')
    .summary('show what the next job would change, and change nothing')
    .description(
      'Renders what the next job would do with the imports as they are, and compares it with what is on the targets, ' +
        'object by object. Nothing is written: the API servers are asked by dry runs. Values of secrets are masked.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('--delete', 'what its deletion would take away')
    .option('-d, --show-details', 'whole objects where one is made or taken away')
    .addOption(
      new Option('-o, --output <format>', 'for people, or for programs')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('--exit-code', 'exit with 2 when something would change')
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .addHelpText(
      'after',
      examples([
        ['espalier plan web -n shop', 'what would a reconcile of web do?'],
        ['espalier plan web -n shop --delete', 'and its deletion?'],
        ['espalier plan web -n shop --exit-code -o json > plan.json', 'in a pipeline'],
      ]),
    )
    .action(async (name: string, options: PlanOptions) => {
      const { plan: run } = await import('./plan.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(plan));
}
