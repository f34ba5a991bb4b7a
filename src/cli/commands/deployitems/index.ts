/** Commands about deploy items. */
import { Option, type Command } from 'commander';
import type { RunItemsOptions } from './run.ts';
import { list } from '../../terminal/options.ts';
import { addLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addDeployItemCommands(
  program: Command,
  terminal: Terminal,
  onExit: (code: Exit) => void,
): void {
  const group = program
    .command('deployitems')
    .aliases(['deployitem', 'di'])
    .summary('carry out deploy items, without a host cluster')
    .description('Carries out deploy items by themselves. See docs/deploy-items.md.');
  const run = group
    .command('run')
    .argument('<file>', 'DeployItems as YAML, and Secrets, Targets … beside them; - for standard input')
    .summary('carry out deploy items on a cluster')
    .description(
      'Carries out deploy items with the deployers of this program; the cluster that they deploy to is the only one ' +
        'it takes. Items wait for those in their spec.dependsOn. What they made is remembered in a file beside theirs.',
    )
    .option('--target-kubeconfig <file>', 'kubeconfig of the cluster to deploy to')
    .option('--target-context <name>', 'context of it; default its current one')
    .option(
      '--target <name=file>',
      'kubeconfig of another target, by its name; can be given several times',
      list,
    )
    .option('--delete', 'uninstall what an earlier run has installed')
    .option('--state <file>', 'what to remember between runs; default FILE.state.json')
    .option('--no-state', 'remember nothing')
    .option('--exports <file>', 'where to write what the items export; default standard output')
    .addOption(
      new Option('-o, --output <format>', 'of the exports').choices(['yaml', 'json']).default('yaml'),
    )
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .addHelpText(
      'after',
      examples([
        ['espalier deployitems run web.yaml --target-kubeconfig kc.yaml', 'install, or bring up to date'],
        ['espalier deployitems run web.yaml --target-kubeconfig kc.yaml --delete', 'take it away again'],
        ['espalier di run web.yaml --target-kubeconfig kc.yaml -o json | jq .web', 'use what it exports'],
      ]),
    )
    .action(async (file: string, options: RunItemsOptions) => {
      const { runItems } = await import('./run.ts');
      onExit(await runItems(file, options, terminal));
    });
  addLogOptions(run);
}
