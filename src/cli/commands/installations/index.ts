/** Commands about installations; names and options are those of landscaper-cli. */
import { Option, type Command } from 'commander';
import type { EventsOptions } from './events.ts';
import type { ForceDeleteOptions } from './force-delete.ts';
import type { InspectOptions } from './inspect.ts';
import type { OperationOptions, ReconcileOptions } from './operation.ts';
import type { RollbackOptions } from './rollback.ts';
import type { TraceOptions } from './trace.ts';
import { repeated } from '../../terminal/options.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import { modes } from './modes.ts';
import { listOption, reportOption } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addInstallationCommands(
  program: Command,
  terminal: Terminal,
  onExit: (code: Exit) => void,
): void {
  const group = program
    .command('installations')
    .aliases(['inst', 'installation', 'i'])
    .summary('inspect installations, start and stop their jobs')
    .description(
      'Inspects installations, starts and stops their jobs, and deletes installations that are stuck.',
    );
  addInspect(group, terminal, onExit);
  addEvents(group, terminal, onExit);
  addTrace(group, terminal, onExit);
  addReconcile(group, terminal, onExit);
  addInterrupt(group, terminal, onExit);
  addRollback(group, terminal, onExit);
  addForceDelete(group, terminal, onExit);
}

function addInspect(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const inspect = group
    .command('inspect')
    .aliases(['i', 'status'])
    .argument('[name]', 'installation to show; default all roots of the namespace')
    .summary('show the tree below an installation')
    .description('Shows installations with their sub-installations, executions and deploy items as a tree.')
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('-A, --all-namespaces', 'installations of all namespaces')
    .option('-f, --show-failed', 'only failed objects and their parents')
    .option('-d, --show-details', 'the YAML of each object beneath it')
    .addOption(
      // The command itself reports invalid values.
      new Option(
        '-o, --output <format>',
        'output format: text is the tree of landscaper-cli, tree has columns; default text',
      )
        .choices(modes)
        .argParser((mode) => mode),
    )
    .option('-w, --wide', 'as -o wide: components, blueprints, types of deploy items')
    .option('-y, --yaml', 'as -o yaml')
    .option('-j, --json', 'as -o json')
    .option('--watch', 'watch changes until Ctrl-C')
    .option('--exit-code', 'exit with 1 if something failed')
    .addHelpText(
      'after',
      examples([
        ['espalier inst inspect -n shop', 'all installations of a namespace'],
        ['espalier inst inspect web -n shop -f', 'what failed below web'],
        ['espalier inst inspect web -n shop -o tree', 'in columns, with durations'],
        ['espalier inst inspect web -n shop --watch', 'follow it'],
        ['espalier inst inspect web -n shop -o dot | dot -Tsvg > web.svg', 'as a picture, with Graphviz'],
      ]),
    )
    .action(async (name: string | undefined, options: InspectOptions) => {
      const { inspect: run } = await import('./inspect.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(inspect));
}

function addEvents(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const events = group
    .command('events')
    .argument('<name>', 'installation')
    .summary('show the events of an installation and of all objects below it')
    .description(
      'Shows the events of an installation, its sub-installations, executions and deploy items, oldest first. ' +
        'API servers keep events for an hour by default.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .addOption(listOption())
    .addHelpText('after', examples([['espalier inst events web -n shop', 'what happened in web']]))
    .action(async (name: string, options: EventsOptions) => {
      const { events: run } = await import('./events.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(events));
}

function addTrace(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const trace = group
    .command('trace')
    .argument('<name>', 'installation')
    .argument('<import>', 'name of an import')
    .summary('show where the value of an import is from, and what uses it')
    .description(
      'Follows an import through mappings, imports of parents and exports of siblings to the objects of users, and to ' +
        'the sub-installations and deploy items that use it. Values from Secrets and from exports are masked.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .addOption(reportOption())
    .addHelpText(
      'after',
      examples([['espalier inst trace web database -n shop', 'which database does web use, and why?']]),
    )
    .action(async (name: string, importName: string, options: TraceOptions) => {
      const { trace: run } = await import('./trace.ts');
      onExit(await run(name, importName, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(trace));
}

function addReconcile(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const reconcile = group
    .command('reconcile')
    .argument('[name]', 'root installation')
    .summary('start a new job of a root installation')
    .description('Starts a new job of a root installation, by setting an annotation.')
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('--all', 'start a job of every root of the namespace')
    .option('-A, --all-namespaces', 'with --all: of all namespaces')
    .option('--wait', 'show progress until the job has ended; exit code 1 if it failed')
    .option('--timeout <duration>', 'how long to wait, such as 90s or 10m', '30m')
    .option(
      '--plan <file>',
      'start the job only if it does what this saved plan lists; see espalier plan --out',
    )
    .option('--config <file>', 'with --plan: configuration, as for espalier plan')
    .option('--deployer <program>', 'with --plan: a deployer of your own, as for espalier plan', repeated)
    .addHelpText(
      'after',
      examples([
        ['espalier inst reconcile web -n shop --wait', 'start it and show its progress'],
        ['espalier inst reconcile web -n shop --plan plan.json --wait', 'only if it does what was planned'],
      ]),
    )
    .action(async (name: string | undefined, options: ReconcileOptions) => {
      const { reconcile: run } = await import('./operation.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(reconcile));
}

function addInterrupt(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const interrupt = group
    .command('interrupt')
    .argument('<name>', 'installation')
    .summary('end the running job of an installation')
    .description(
      'Ends the running jobs of an installation and of all objects below it, by setting an annotation. Their phase becomes Failed.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .addHelpText('after', examples([['espalier inst interrupt web -n shop', 'stop waiting for it']]))
    .action(async (name: string, options: OperationOptions) => {
      const { interrupt: run } = await import('./operation.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(interrupt));
}

function addRollback(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const rollback = group
    .command('rollback')
    .argument('<name>', 'root installation')
    .summary('restore the spec of a recorded job')
    .description(
      'Restores the spec and the inline blueprint of a recorded job, and starts a job with them. First shows the ' +
        'changes, and the values that it cannot restore: imported values and component versions are not recorded. See docs/jobs.md.',
    )
    .requiredOption('--to <job>', 'number of the job, or the beginning of its id; see espalier jobs list')
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--dry-run', 'only show what would change')
    .option('--wait', 'show progress until the job has ended; exit code 1 if it failed')
    .option('--timeout <duration>', 'how long to wait, such as 90s or 10m', '30m')
    .addHelpText(
      'after',
      examples([
        ['espalier inst rollback web --to 16 -n shop --dry-run', 'show it first'],
        ['espalier inst rollback web --to 16 -n shop --wait', 'do it after a confirmation'],
      ]),
    )
    .action(async (name: string, options: RollbackOptions) => {
      const { rollback: run } = await import('./rollback.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(rollback));
}

function addForceDelete(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const command = group
    .command('force-delete')
    .alias('fd')
    .argument('[name]', 'installation')
    .summary('delete an installation without uninstalling anything')
    .description(
      'Deletes an installation and all objects below it, in any state. Nothing is uninstalled: ' +
        'deployed objects stay on the targets, and are listed first.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('--all', 'all installations of the namespace')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--dry-run', 'only show what would be deleted and what would be kept')
    .addHelpText(
      'after',
      examples([
        ['espalier inst force-delete web -n shop --dry-run', 'show it first'],
        ['espalier inst force-delete --all -n shop', 'a whole namespace, for example before a restore'],
        ['espalier inst force-delete web -n shop --yes', 'in scripts'],
      ]),
    )
    .action(async (name: string | undefined, options: ForceDeleteOptions) => {
      const { forceDelete } = await import('./force-delete.ts');
      onExit(await forceDelete(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(command));
}
