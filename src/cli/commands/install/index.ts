/** Commands that install the product into a cluster and remove it: install, uninstall. */
import { Option, type Command } from 'commander';
import type { InstallCommandOptions } from './install.ts';
import type { UninstallOptions } from './uninstall.ts';
import { deployerNames } from '../../names.ts';
import { list, repeated, replicas } from '../../terminal/options.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const NAMESPACE = 'ls-system';

export function addInstallCommands(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  addInstall(program, terminal, onExit);
  addUninstall(program, terminal, onExit);
}

/** Without a default, because it is only valid with --dry-run. */
const outputOption = (): Option =>
  new Option('-o, --output <format>', 'how --dry-run prints them; default yaml').choices([
    'yaml',
    'json',
    'name',
  ]);

const installExamples = examples([
  [
    'espalier install --image registry.example.org/espalier:0.1.0 -A',
    'into ls-system, for landscapes in all namespaces',
  ],
  [
    'espalier install --image registry.example.org/espalier:0.1.0 --replicas 3 --webhooks --config config.yaml',
    'three replicas, with webhooks',
  ],
  [
    'espalier install --image registry.example.org/espalier:0.1.0 -A --set nodeSelector.pool=system,serviceMonitor.enabled=true',
    'with values of the chart that have no option',
  ],
  [
    'espalier install --image registry.example.org/espalier:0.1.0 -A --dry-run | kubectl apply --server-side -f -',
    'as YAML, for kubectl or a GitOps repository',
  ],
]);

function addInstall(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const install = program
    .command('install')
    .summary('run Espalier in a cluster, or update it there')
    .description(
      'Installs the CustomResourceDefinitions, a service account with only the necessary rights, and a Deployment ' +
        'of all controllers. A second call updates only what differs, and resets omitted options ' +
        'to their defaults.',
    )
    .option('--image <image>', 'image of Espalier; required, unless values name one')
    .option('-n, --namespace <name>', 'namespace of the product, created if missing', NAMESPACE)
    .option('--replicas <number>', 'pods that share the work; default 1', replicas)
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .option('--deployers <names>', `which deployers to run: ${deployerNames.join(', ')}; default all`, list)
    .option('--webhooks', 'also install the validating webhooks')
    .option('--no-webhooks', 'remove the webhooks of an earlier call')
    .option('--pull-secret <name>', 'secret in the namespace with credentials for the registry of the image')
    .option(
      '--metrics-from <namespaces>',
      'only pods of these namespaces may read /metrics; default monitoring',
      list,
    )
    .option(
      '-A, --all-namespaces',
      'work in all namespaces, with permission to read and write their Secrets; otherwise watchNamespaces in the ' +
        'configuration names them',
    )
    .option('--no-crds', 'do not install or update the CustomResourceDefinitions')
    .option('-f, --values <file>', 'values of the chart; can be repeated, later files win', repeated)
    .option(
      '--set <key=value>',
      'one value of the chart, such as image.pullPolicy=Always; can be repeated',
      repeated,
    )
    .option('--dry-run', 'only print the objects')
    .addOption(outputOption())
    .addHelpText('after', installExamples)
    .action(async (options: InstallCommandOptions) => {
      const { install: run } = await import('./install.ts');
      onExit(await run(options, terminal));
    });
  addQuietLogOptions(addClusterOptions(install));
}

function addUninstall(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const uninstall = program
    .command('uninstall')
    .summary('remove Espalier from a cluster')
    .description(
      'Removes the objects that install created: webhooks, Deployment, roles, configuration. Refuses while there are ' +
        'objects that only Espalier can delete. Keeps the namespace.',
    )
    .option('-n, --namespace <name>', 'namespace of the product', NAMESPACE)
    .option(
      '--keep-objects',
      'also uninstall while there are installations; keep them and the CustomResourceDefinitions, but remove the conditions that only Espalier maintains',
    )
    .option('--crds', 'also delete the CustomResourceDefinitions, if no object of these kinds exists')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--dry-run', 'only show what would be removed')
    .addHelpText(
      'after',
      examples([
        ['espalier uninstall --dry-run', 'show it first'],
        ['espalier uninstall --crds --yes', 'everything, in scripts'],
        ['espalier uninstall --keep-objects', 'to switch to Landscaper'],
      ]),
    )
    .action(async (options: UninstallOptions) => {
      const { uninstall: run } = await import('./uninstall.ts');
      onExit(await run(options, terminal));
    });
  addQuietLogOptions(addClusterOptions(uninstall));
}
