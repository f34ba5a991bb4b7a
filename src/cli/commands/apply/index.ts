/** `espalier apply`. */
import type { Command } from 'commander';
import type { ApplyOptions } from './apply.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addApplyCommand(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const apply = program
    .command('apply')
    .argument('<path...>', 'files, folders (without their sub-folders), or - for standard input')
    .summary('apply files and folders, with the blueprints next to them')
    .description(
      'Applies the objects in YAML files to a cluster, by server-side apply. An Installation without spec.blueprint gets ' +
        'the blueprint in the folder "blueprint" beside its file, or in the folder that its annotation espalier.dev/blueprint ' +
        'names. All files are checked first, also by the API server; if one is invalid, nothing is changed.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('--wait', 'show the trees until the jobs have ended; exit code 1 if a job failed')
    .option('--timeout <duration>', 'how long to wait, such as 90s or 10m', '30m')
    .option('--reconcile', 'start a job of each root installation, also of unchanged ones')
    .option('--dry-run', 'show what would be created, changed and deleted')
    .option('--force-conflicts', 'take over fields of other field managers')
    .option('--set <name>', 'label the objects as parts of a set')
    .option('--prune', 'delete the objects of the set that are no longer in the files')
    .option('-y, --yes', 'with --prune: do not ask for confirmation')
    .option('--repository <url>', 'registry for blueprints that are too large for an object (1 MiB)')
    .option('--plain-http', 'allow plain HTTP: for http://HOST, and for hosts that do not speak TLS')
    .option('--docker-config <file>', 'credentials; default config.json in DOCKER_CONFIG, or in ~/.docker')
    .option('--no-lint', 'do not check the blueprints of folders')
    .addHelpText(
      'after',
      examples([
        ['espalier apply docs/samples/hello-landscape --wait', 'the sample, and watch it being installed'],
        ['espalier apply ./shop -n shop --dry-run', 'what would change?'],
        ['espalier apply ./shop -n shop --set shop --prune', 'and delete what is no longer in the folder'],
        ['espalier apply ./shop -n shop --reconcile --wait --timeout 10m', 'in a pipeline'],
      ]),
    )
    .action(async (paths: readonly string[], options: ApplyOptions) => {
      const { apply: run } = await import('./apply.ts');
      onExit(await run(paths, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(apply));
}
