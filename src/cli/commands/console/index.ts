/** `espalier console`. */
import type { Command } from 'commander';
import type { ConsoleCommandOptions } from './console.ts';
import type { InClusterCommandOptions } from './in-cluster.ts';
import { list, port } from '../../terminal/options.ts';
import { addClusterOptions, addLogOptions, examples } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addConsoleCommand(program: Command, terminal: Terminal): void {
  const console = program
    .command('console')
    .summary('show landscapes in the browser')
    .description(
      'Serves a web console on 127.0.0.1 until Ctrl-C, with the rights of your kubeconfig, and opens the browser. ' +
        'It shows landscapes live, says what holds an object, and can reconcile, interrupt, suspend and delete. ' +
        'With --in-cluster, it serves all users of the cluster, who log in with their own tokens.',
    )
    .option(
      '-n, --namespace <name>',
      'only this namespace; default: all, or that of the kubeconfig if you may not list all',
    )
    .option('--port <number>', 'port of the console; default 8082, or any free one if it is in use', port)
    .option('--no-open', 'print the link, do not open the browser')
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
      '--config <file>',
      'with --in-cluster: configuration, a LandscaperConfiguration; for watchNamespaces',
    )
    .addHelpText(
      'after',
      examples([
        ['espalier console', 'all landscapes of the cluster'],
        ['espalier console -n shop --no-open', 'one namespace; open the printed link yourself'],
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
  addLogOptions(addClusterOptions(console));
}
