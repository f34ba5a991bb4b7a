/** Commands about targets. */
import type { Command } from 'commander';
import type { CreateTargetOptions } from './create.ts';
import { list, wholeNumber } from '../../terminal/options.ts';
import { examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addTargetCommands(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const group = program
    .command('targets')
    .aliases(['target', 't'])
    .summary('write targets')
    .description('Writes targets: where deployers install, and with which credentials. See docs/targets.md.');
  group
    .command('create')
    .alias('c')
    .argument('[name]', 'name of the target; "kubernetes-cluster" with --name, as with landscaper-cli')
    .summary('print a target for a cluster')
    .description(
      'Prints a Target, with a Secret for the credentials if requested. A kubeconfig is checked against the rules ' +
        'of deployers: no files, no commands.',
    )
    .option('--target-kubeconfig <file>', 'kubeconfig of the target cluster')
    .option('--kubeconfig <file>', 'the same as --target-kubeconfig')
    .option('--target-context <name>', 'context of that kubeconfig; default its current one')
    .option('--flatten', 'embed the files that the kubeconfig names, and keep only what the context needs')
    .option('--oidc-server <url>', 'API server of a target cluster that trusts the tokens of this cluster')
    .option('--oidc-ca <file>', 'certificate authority of that API server, PEM')
    .option('--audience <names>', 'audiences of the tokens, separated by commas', list)
    .option('--self', 'use the cluster that stores the Target')
    .option('--service-account <name>', 'with --oidc-server and --self: the service account of the tokens')
    .option('--expiration <seconds>', 'validity of tokens; default a day', wholeNumber)
    .option(
      '--type <domain/name>',
      'type of the target; default landscaper.gardener.cloud/kubernetes-cluster',
    )
    .option('--config <file>', 'content of a target of another type, YAML')
    .option('--name <name>', 'name of the target')
    .option('-n, --namespace <name>', 'namespace to write into the objects')
    .option('-s, --secret <name>', 'keep the content in a Secret of this name')
    .option('-o, --output <format>', 'yaml, json or name; deprecated: a file name, use --output-file', 'yaml')
    .option('--output-file <file>', 'output file; default standard output')
    .addHelpText(
      'after',
      examples([
        ['espalier targets create prod --kubeconfig prod.yaml -n shop -s prod-access', 'with a Secret'],
        ['espalier targets create here --self --service-account deployer -n shop', 'this cluster'],
        [
          'espalier targets create edge --oidc-server https://edge:6443 --oidc-ca ca.pem --service-account deployer',
          'without stored credentials',
        ],
      ]),
    )
    .action(async (name: string | undefined, options: CreateTargetOptions) => {
      const { createTarget } = await import('./create.ts');
      onExit(createTarget(name, options, terminal));
    });
}
