/** Commands about deploy items. */
import type { Command } from 'commander';
import { addLeftBehindCommands } from './left-behind/index.ts';
import type { RunItemsOptions } from './run.ts';
import { list } from '../../terminal/options.ts';
import { addLogOptions, examples, type Exit } from '../../program-parts.ts';
import { documentOption } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addDeployItemCommands(
  program: Command,
  terminal: Terminal,
  onExit: (code: Exit) => void,
): void {
  const group = program
    .command('deployitems')
    .aliases(['deployitem', 'di'])
    .summary('run deploy items without a host cluster; objects on other clusters')
    .description(
      'Runs deploy items without installations, and lists, removes or forgets objects on clusters to which their targets ' +
        'no longer lead. See docs/deploy-items.md.',
    );
  const run = group
    .command('run')
    .argument('<file>', 'YAML file with DeployItems, and their Secrets, Targets …; - for standard input')
    .summary('run deploy items against a target cluster')
    .description(
      'Runs deploy items with the deployers of this program; the target cluster is the only cluster ' +
        'it needs. Items wait for the items in their spec.dependsOn. A state file next to the input records the created objects.',
    )
    .option('--target-kubeconfig <file>', 'kubeconfig of the cluster to deploy to')
    .option('--target-context <name>', 'context of that kubeconfig; default its current one')
    .option(
      '--target <name=file>',
      'kubeconfig of another target, by its name; can be given several times',
      list,
    )
    .option('--delete', 'uninstall what an earlier run installed')
    .option('--state <file>', 'state file; default FILE.state.json')
    .option('--no-state', 'do not write a state file')
    .option('--exports <file>', 'where to write the exports of the items; default standard output')
    .addOption(documentOption('format of the exports'))
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .addHelpText(
      'after',
      examples([
        ['espalier deployitems run web.yaml --target-kubeconfig kc.yaml', 'install or update'],
        ['espalier deployitems run web.yaml --target-kubeconfig kc.yaml --delete', 'uninstall'],
        ['espalier di run web.yaml --target-kubeconfig kc.yaml -o json | jq .web', 'use what it exports'],
      ]),
    )
    .action(async (file: string, options: RunItemsOptions) => {
      const { runItems } = await import('./run.ts');
      onExit(await runItems(file, options, terminal));
    });
  addLogOptions(run);
  addLeftBehindCommands(group, terminal, onExit);
}
