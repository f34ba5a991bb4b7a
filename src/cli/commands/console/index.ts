/** `espalier console`. */
import type { Command } from 'commander';
import type { ConsoleCommandOptions } from './console.ts';
import type { InClusterCommandOptions } from './in-cluster.ts';
import { duration, jobs, list, memoryMiB, port, repeated } from '../../terminal/options.ts';
import { addClusterOptions, addLogOptions, examples } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** Options of the console that serves all users. */
const addInClusterOptions = (console: Command): Command =>
  console
    .option(
      '--in-cluster',
      'serve all users; each logs in with a bearer token and has the rights of the token',
    )
    .option('--host <address>', 'with --in-cluster: address to listen on; default 0.0.0.0')
    .option('--tls-cert <file>', 'with --in-cluster: certificate of the console, PEM; default: HTTP')
    .option('--tls-key <file>', 'with --in-cluster: key of the certificate, PEM')
    .option(
      '--allowed-hosts <names>',
      'with --in-cluster: host names of the console in browsers; default: only localhost, for kubectl port-forward',
      list,
    )
    .option(
      '--trust-forwarded-headers',
      'with --in-cluster: an ingress terminates TLS and sets X-Forwarded-Proto and X-Forwarded-For',
    )
    .option(
      '--allow-targets',
      'with --in-cluster: connect to targets whose credentials the viewer may read; tenants write their addresses',
    )
    .option(
      '--allow-plans',
      'with --in-cluster and --allow-targets: make plans with the token of the viewer; they render what tenants write',
    )
    .option('--max-plans <number>', 'plans at the same time, of all viewers; default 2', jobs)
    .option('--max-plans-per-user <number>', 'plans at the same time, of one viewer; default 1', jobs)
    .option('--plan-memory <MiB>', 'memory of each process that plans; default 512', memoryMiB)
    .option('--plan-timeout <duration>', 'how long a plan may take; default 2m', duration);

export function addConsoleCommand(program: Command, terminal: Terminal): void {
  const console = program
    .command('console')
    .summary('show landscapes in the browser')
    .description(
      'Serves a web console on 127.0.0.1 until Ctrl-C, with the rights of your kubeconfig, and opens the browser. ' +
        'It shows landscapes live and what blocks an object, and can reconcile, interrupt, suspend and delete. ' +
        'With --in-cluster, it serves all users of the cluster, who log in with their own tokens.',
    )
    .option(
      '-n, --namespace <name>',
      'only this namespace; default: all, or that of the kubeconfig if you may not list all',
    )
    .option('--port <number>', 'port of the console; default 8082, or any free one if it is in use', port)
    .option('--no-open', 'print the link, do not open the browser')
    .option(
      '--config <file>',
      'configuration of the controllers, a LandscaperConfiguration: for plans, and with --in-cluster for watchNamespaces',
    )
    .option(
      '--deployer <program>',
      'deployer of your own, for plans, as for espalier plan; repeatable',
      repeated,
    )
    .addHelpText(
      'after',
      examples([
        ['espalier console', 'all landscapes of the cluster'],
        ['espalier console -n shop --no-open', 'one namespace; open the printed link yourself'],
        [
          'espalier console --config config.yaml --deployer ./dns/deployer.js',
          'plans with a deployer of your own',
        ],
        [
          'espalier console --in-cluster --tls-cert tls.crt --tls-key tls.key --allowed-hosts console.example.org',
          'for all users, as the Helm chart runs it',
        ],
      ]),
    )
    .action(async (options: ConsoleCommandOptions & InClusterCommandOptions & { inCluster?: true }) => {
      const { refuseWithout, serveInCluster } = await import('./in-cluster.ts');
      if (options.inCluster) return serveInCluster(options, terminal);
      refuseWithout(options);
      const { serveConsole } = await import('./console.ts');
      return serveConsole(options, terminal);
    });
  addLogOptions(addClusterOptions(addInClusterOptions(console)));
}
