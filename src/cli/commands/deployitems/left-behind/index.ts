/** Commands about objects of deploy items on clusters to which their targets no longer lead. */
import type { Command } from 'commander';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../../program-parts.ts';
import { reportOption } from '../../../terminal/output-option.ts';
import type { Terminal } from '../../../terminal/terminal.ts';
import type { ForgetOptions } from './forget.ts';
import type { ListOptions } from './list.ts';
import type { RemoveOptions } from './remove.ts';

const NAMESPACE = "namespace; default that of the kubeconfig's context";

export function addLeftBehindCommands(
  deployItems: Command,
  terminal: Terminal,
  onExit: (code: Exit) => void,
): void {
  const group = deployItems
    .command('left-behind')
    .summary('objects on clusters to which a target no longer leads')
    .description(
      'Lists, removes or forgets objects of deploy items on clusters to which their targets no longer lead. If a target ' +
        'leads to such a cluster again, the next job manages the objects there again. See docs/targets.md.',
    );
  addList(group, terminal);
  addRemove(group, terminal);
  addForget(group, terminal, onExit);
}

function addList(group: Command, terminal: Terminal): void {
  const list = group
    .command('list')
    .argument('[name]', 'deploy item; default all of the namespace')
    .summary('list the objects and their clusters')
    .description('Lists objects of deploy items on clusters to which their targets no longer lead.')
    .option('-n, --namespace <name>', NAMESPACE)
    .option('-A, --all-namespaces', 'deploy items of all namespaces')
    .addOption(reportOption())
    .addHelpText('after', examples([['espalier di left-behind list -n shop', 'what stays where?']]))
    .action(async (name: string | undefined, options: ListOptions) => {
      const { listLeftBehind } = await import('./list.ts');
      await listLeftBehind(name, options, terminal);
    });
  addQuietLogOptions(addClusterOptions(list));
}

function addRemove(group: Command, terminal: Terminal): void {
  const remove = group
    .command('remove')
    .argument('<name>', 'deploy item')
    .summary('delete the objects on one of these clusters')
    .description(
      'Deletes objects of a deploy item on a cluster to which its target no longer leads, as a job of the deployer would: ' +
        'only the recorded objects, with the same policies and deletion groups. The cluster is identified by the uid of its ' +
        'namespace kube-system.',
    )
    .option('-n, --namespace <name>', NAMESPACE)
    .option('--target <name>', 'a Target that leads to the cluster with the objects')
    .option('--target-kubeconfig <file>', 'kubeconfig of the cluster with the objects')
    .option('--target-context <name>', 'context of that kubeconfig; default its current one')
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .addHelpText(
      'after',
      examples([
        [
          'espalier di left-behind remove web-x7k2p -n shop --target-kubeconfig old.yaml',
          'the cluster of this kubeconfig',
        ],
        ['espalier di left-behind remove web-x7k2p -n shop --target old', 'the cluster of another Target'],
      ]),
    )
    .action(async (name: string, options: RemoveOptions) => {
      const { removeFromCluster } = await import('./remove.ts');
      await removeFromCluster(name, options, terminal);
    });
  addQuietLogOptions(addClusterOptions(remove));
}

function addForget(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const forget = group
    .command('forget')
    .argument('<name>', 'deploy item')
    .summary('leave the objects there, and drop the record of them')
    .description(
      'Drops the record of objects on clusters to which the target of a deploy item no longer leads. The objects stay ' +
        'there if the clusters exist. The command asks for confirmation.',
    )
    .option('-n, --namespace <name>', NAMESPACE)
    .option('--cluster <uid>', 'only those on this cluster; default all')
    .option('-y, --yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      examples([['espalier di left-behind forget web-x7k2p -n shop', 'the cluster does not exist any more']]),
    )
    .action(async (name: string, options: ForgetOptions) => {
      const { forgetLeftBehind } = await import('./forget.ts');
      onExit(await forgetLeftBehind(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(forget));
}
