/** Commands that run servers: start, webhooks, dev, apiserver, demo. */
import { Option, type Command } from 'commander';
import type { DemoOptions } from './demo.ts';
import type { DevOptions } from './dev.ts';
import type { ApiServerCommandOptions } from './apiserver.ts';
import type { StartOptions } from './start.ts';
import type { WebhooksCommandOptions } from './webhooks.ts';
import { controllerNames, deployerNames } from '../../names.ts';
import { address, list, namespacedName, port, repeated, webhookUrl } from '../../terminal/options.ts';
import { addClusterOptions, addLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addServerCommands(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  addDemo(program, terminal, onExit);
  addDev(program, terminal);
  addStart(program, terminal);
  addWebhooks(program, terminal);
  addApiServer(program, terminal);
}

function addDemo(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const demo = program
    .command('demo')
    .summary('install a sample landscape, without a cluster')
    .description(
      'Starts an API server, controllers and deployers in this process, installs a sample landscape and shows its progress. ' +
        'On a terminal it keeps serving until Ctrl-C.',
    )
    .option('--port <number>', 'port of the API server; 0 takes any free one', port, 0)
    .option('--print', 'print the objects of the sample as YAML instead, for a cluster of your own')
    .option('--target-kubeconfig <file>', 'with --print: kubeconfig of the cluster to deploy to')
    .option('--exit', 'exit when the landscape is ready, also on a terminal')
    .addHelpText(
      'after',
      examples([
        ['espalier demo', 'watch it, then try commands until Ctrl-C'],
        ['espalier demo --print', 'show what is applied'],
      ]),
    )
    .action(async (options: DemoOptions) => {
      const { demo: run } = await import('./demo.ts');
      onExit(await run(options, terminal));
    });
  addLogOptions(demo);
}

function addDev(program: Command, terminal: Terminal): void {
  const dev = program
    .command('dev')
    .summary('an API server with all controllers and deployers, without a cluster')
    .description(
      'Runs an API server, all controllers and all deployers in one process, for development. ' +
        'Workloads are simulated: a Deployment becomes ready although no container runs.',
    )
    .option('--data <folder>', 'keep the objects in this folder; default: in memory')
    .option(
      '--port <number>',
      'port of the API server; default: the previous port of this folder, else any free one',
      port,
    )
    .option('--write-kubeconfig <file>', 'where to write the kubeconfig, once clients can use the server')
    .option('-n, --namespace <name>', 'namespace to create and to use in the kubeconfig', 'default')
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .option('--metrics-address <host:port>', 'serve /metrics, /healthz and /readyz here', address)
    .addHelpText(
      'after',
      examples([
        ['espalier dev', 'in memory, on any free port'],
        ['espalier dev --data ./data --port 6443', 'durable, on a fixed port'],
        ['espalier dev --write-kubeconfig kc.yaml', 'then: kubectl --kubeconfig kc.yaml get inst -A'],
      ]),
    )
    .action(async (options: DevOptions) => {
      const { dev: run } = await import('./dev.ts');
      await run(options, terminal);
    });
  addLogOptions(dev);
}

function addStart(program: Command, terminal: Terminal): void {
  const start = program
    .command('start')
    .summary('run the controllers and deployers on a cluster')
    .description(
      'Runs controllers and deployers on a cluster until SIGTERM or Ctrl-C. ' +
        'Without a kubeconfig it uses KUBECONFIG, then the account of its pod.',
    )
    .option(
      '--controllers <names>',
      `which controllers to run: ${controllerNames.join(', ')}, or none; default all`,
      list,
    )
    .option(
      '--deployers <names>',
      `which deployers to run: ${deployerNames.join(', ')}, or none; default all`,
      list,
    )
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .option(
      '--deployer-config <file>',
      "configuration of one deployer, as upstream's deployers read it; may be repeated for others",
      repeated,
    )
    .option('--metrics-address <host:port>', 'serve /metrics, /healthz and /readyz here', address)
    .option(
      '--lease <namespace/name>',
      'share the work with all replicas that set the same name; the names of their Leases begin with it',
      namespacedName,
    )
    .option('--no-crds', 'do not install or update the CustomResourceDefinitions')
    .addHelpText(
      'after',
      examples([
        ['espalier start --kubeconfig ~/.kube/config', 'everything'],
        ['espalier start --deployers manifest,mock', 'all controllers, two deployers'],
        ['espalier start --metrics-address 0.0.0.0:8080', 'in a pod, with probes'],
        ['espalier start --lease ls-system/espalier', 'one of several replicas, which share the work'],
      ]),
    )
    .action(async (options: StartOptions) => {
      const { start: run } = await import('./start.ts');
      await run(options, terminal);
    });
  addClusterOptions(start);
  addLogOptions(start);
}

const webhooksExamples = examples([
  ['espalier webhooks --webhook-service ls-system/landscaper-webhooks', 'in a pod, behind a Service'],
  ['espalier webhooks --webhook-url https://10.0.0.5:9443 --cert-ns ls-system', 'outside the cluster'],
  [
    'espalier webhooks --webhook-service ls-system/landscaper-webhooks --cert-dir /etc/tls',
    'with a certificate of cert-manager',
  ],
  [
    'espalier webhooks --webhook-url https://10.0.0.5:9443 --disable-webhooks all',
    'remove the webhooks from the API server',
  ],
]);

const skipValidationOption = (): Option =>
  new Option(
    '--skip-validation <users>',
    'who may skip validation with the label skip-validation: admins, who have permission for this verb, or all, as in Landscaper',
  )
    .choices(['admins', 'all'])
    .default('admins');

function addWebhooks(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command('webhooks')
    .summary('serve the validating webhooks of a cluster')
    .description(
      'Serves the validating webhooks until SIGTERM or Ctrl-C, and registers them at the API server. ' +
        'Certificates are created on demand and stored in the secret landscaper-webhook-certs.',
    )
    .option(
      '--webhook-service <namespace/name>',
      'Service at which the API server calls the webhooks',
      namespacedName,
    )
    .option('--webhook-service-port <number>', 'port of that Service', port, 9443)
    .option('--webhook-url <url>', 'URL at which the API server calls them, instead of a Service', webhookUrl)
    .option('--host <address>', 'address to listen on', '0.0.0.0')
    .option('--port <number>', 'port to listen on', port, 9443)
    .option(
      '--cert-ns <namespace>',
      'namespace of the secret; default that of the Service, or of the kubeconfig',
    )
    .option(
      '--disable-webhooks <names>',
      'kinds not to validate: installations, deployitems, executions, targets, or all, which also removes the ' +
        'ValidatingWebhookConfiguration',
      list,
    )
    .option('--config <file>', 'configuration, a LandscaperConfiguration: its limits apply here too')
    .addOption(skipValidationOption())
    .option('--no-install', 'do not write the ValidatingWebhookConfiguration')
    .option(
      '--cert-dir <folder>',
      'serve the certificate tls.crt with the key tls.key in this folder, and follow their changes; then the server writes ' +
        'neither the secret nor the ValidatingWebhookConfiguration',
    )
    .option(
      '--owner-role <name>',
      'ClusterRole that owns the ValidatingWebhookConfiguration, so that Kubernetes deletes both together',
    )
    .addHelpText('after', webhooksExamples)
    .action(async (options: WebhooksCommandOptions) => {
      const { webhooks: run } = await import('./webhooks.ts');
      await run(options, terminal);
    });
  addClusterOptions(webhooks);
  addLogOptions(webhooks);
}

function addApiServer(program: Command, terminal: Terminal): void {
  const apiserver = program
    .command('apiserver')
    .summary('the development API server alone')
    .description('Runs the API server alone, for development and tests. It runs no controllers of Espalier.')
    .option('--data <folder>', 'keep the objects in this folder; default: in memory')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--port <number>',
      'port to listen on; default: the previous port of this folder, else any free one',
      port,
    )
    .option('--write-kubeconfig <file>', 'where to write the kubeconfig, once clients can use the server')
    .option('--simulate', 'simulate workloads: they become ready although nothing runs')
    .option(
      '--controllers <names>',
      'Kubernetes controllers to simulate, separated by commas; default all, or none',
      list,
    )
    .option('--crds', 'install the CustomResourceDefinitions')
    .addHelpText(
      'after',
      examples([
        [
          'espalier apiserver --crds --write-kubeconfig kc.yaml',
          'with the CustomResourceDefinitions, in memory',
        ],
        ['espalier apiserver --data ./data --port 6443', 'durable, on a fixed port'],
      ]),
    )
    .action(async (options: ApiServerCommandOptions) => {
      const { apiserver: run } = await import('./apiserver.ts');
      await run(options, terminal);
    });
  addLogOptions(apiserver);
}
