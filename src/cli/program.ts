/**
 * All commands and their options. A command's code is loaded when the command runs, so that help and usage errors
 * appear at once.
 */
import { Argument, Command, CommanderError } from 'commander';
import type { Shell } from './commands/completion.ts';
import { reportError } from './report-error.ts';
import { exitCodes, UsageError } from './errors.ts';
import { versionText } from './package.ts';
import { addApplyCommand } from './commands/apply/index.ts';
import { addBlueprintCommands } from './commands/blueprints/index.ts';
import { addComponentCommands } from './commands/components/index.ts';
import { addConsoleCommand } from './commands/console/index.ts';
import { addDeployItemCommands } from './commands/deployitems/index.ts';
import { addContainerCommands, addDeployerCommands } from './commands/deployers/index.ts';
import { addOperatorCommands } from './commands/operators/index.ts';
import { addDoctorCommand } from './commands/doctor/index.ts';
import { addGraphCommand } from './commands/graph/index.ts';
import { addInstallCommands } from './commands/install/index.ts';
import { addInstallationCommands } from './commands/installations/index.ts';
import { COMPLETE } from './completion/script.ts';
import { examples, type Exit } from './program-parts.ts';
import { addJobCommands } from './commands/jobs/index.ts';
import { addLanguageServerCommand } from './commands/language-server/index.ts';
import { addLogsCommand } from './commands/logs/index.ts';
import { addNewCommands } from './commands/new/index.ts';
import { addPlanCommand } from './commands/plan/index.ts';
import { addServerCommands } from './commands/servers/index.ts';
import { addTargetCommands } from './commands/targets/index.ts';
import { addTestCommand } from './commands/test/index.ts';
import {
  objectOption,
  reportOption,
  type ObjectFormat,
  type ReportFormat,
} from './terminal/output-option.ts';
import type { Terminal } from './terminal/terminal.ts';

/**
 * Runs one command line and returns its exit code. A failure is reported as one line on standard error.
 * @param args arguments without the program and the script
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  let exit: Exit;
  const program = createProgram(terminal, (code) => {
    exit = code;
  });
  try {
    // Not a command: its arguments are an unfinished line, which may have any options.
    if (args[0] === COMPLETE) {
      const { complete } = await import('./commands/complete.ts');
      await complete(args.slice(1), program, terminal);
      return exitCodes.ok;
    }
    await program.parseAsync([...args], { from: 'user' });
    return exit ?? exitCodes.ok;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(terminal, error);
    if (error.exitCode === 0) return exitCodes.ok;
    if (error.code === 'commander.help') {
      // A command group without a command prints its help.
      commandOf(program, args).outputHelp();
      return exitCodes.ok;
    }
    return reportError(terminal, new UsageError(usageError(error, program, args)));
  }
}

export function createProgram(terminal: Terminal, onExit: (code: Exit) => void): Command {
  const program = new Command('espalier')
    .description(
      'Hierarchical installation controller for Kubernetes: installations, blueprints, deploy items. Compatible with Gardener Landscaper.',
    )
    .version(versionText(), '-V, --version', 'print the version')
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => {
        terminal.write(text);
      },
      // runProgram prints errors as one line; commander would print its own.
      writeErr: () => undefined,
      getOutHelpWidth: () => terminal.columns,
      getOutHasColors: () => terminal.paint.isColorSupported,
    })
    .addHelpText(
      'after',
      examples([
        ['espalier demo', 'watch a sample landscape being installed; needs no cluster'],
        ['espalier dev', 'an API server with all controllers, for development'],
        ['espalier apply ./shop --wait', 'apply a folder with installations and blueprints'],
        ['espalier start --kubeconfig ~/.kube/config', 'the controllers, on your cluster'],
        ['espalier install --image IMAGE --all-namespaces', 'the controllers, in your cluster'],
        ['espalier inst inspect my-app -n my-project', 'state of an installation'],
      ]),
    );
  addServerCommands(program, terminal, onExit);
  addInstallCommands(program, terminal, onExit);
  addApplyCommand(program, terminal, onExit);
  addInstallationCommands(program, terminal, onExit);
  addJobCommands(program, terminal, onExit);
  addPlanCommand(program, terminal, onExit);
  addGraphCommand(program, terminal, onExit);
  addConsoleCommand(program, terminal);
  addLogsCommand(program, terminal, onExit);
  addDoctorCommand(program, terminal, onExit);
  addNewCommands(program, terminal);
  addTestCommand(program, terminal, onExit);
  addBlueprintCommands(program, terminal, onExit);
  addLanguageServerCommand(program);
  addComponentCommands(program, terminal);
  addTargetCommands(program, terminal, onExit);
  addDeployItemCommands(program, terminal, onExit);
  addDeployerCommands(program, terminal, onExit);
  addOperatorCommands(program, terminal);
  addContainerCommands(program, terminal);
  addDefinitionCommands(program, terminal);
  addSmallCommands(program, terminal);
  return program;
}

function addDefinitionCommands(program: Command, terminal: Terminal): void {
  program
    .command('crds')
    .summary('print the CustomResourceDefinitions')
    .description('Prints the CustomResourceDefinitions, ready for kubectl.')
    .addOption(objectOption('YAML documents, a JSON list'))
    .option('--json', 'as -o json')
    .addHelpText(
      'after',
      examples([['espalier crds | kubectl apply --server-side -f -', 'install or update them']]),
    )
    .action(async ({ json, output }: { json?: true; output: ObjectFormat }) => {
      const { crds } = await import('./commands/crds.ts');
      crds(json ? 'json' : output, terminal);
    });
  program
    .command('schemas')
    .argument('[schema]', 'name of a schema; default: list all')
    .summary('print the JSON Schemas that editors use')
    .description(
      'Prints the JSON Schema of blueprints, of a kind of the API, or of another file, for editors. See docs/editors.md.',
    )
    .addHelpText(
      'after',
      examples([
        ['espalier schemas', 'the names of all schemas'],
        ['espalier schemas blueprint > blueprint.json', 'for the editor of a blueprint'],
      ]),
    )
    .action(async (name: string | undefined) => {
      const { printSchemas } = await import('./commands/schemas.ts');
      printSchemas(name, terminal);
    });
}

function addSmallCommands(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
    .summary('print a script that completes commands')
    .description(
      'Prints a shell completion script for commands, options and their values. Names of installations, imports, ' +
        'jobs, namespaces and contexts are looked up while you type. For "kubectl espalier", kubectl runs the program ' +
        'kubectl_complete-espalier on your PATH, which this package contains, and needs no script.',
    )
    .addHelpText(
      'after',
      examples([
        ['source <(espalier completion bash)', 'in bash, for this shell; in ~/.bashrc for all'],
        [
          'espalier completion zsh > "${fpath[1]}/_espalier"',
          'in zsh, for all sessions; needs "autoload -U compinit && compinit" in ~/.zshrc',
        ],
        ['espalier completion fish > ~/.config/fish/completions/espalier.fish', 'in fish, for all sessions'],
      ]),
    )
    .action(async (shell: Shell) => {
      const { completion } = await import('./commands/completion.ts');
      completion(shell, program, terminal);
    });
  program
    .command('version')
    .alias('v')
    .summary('print the version')
    .description('Prints the version of Espalier, of Node.js, and of the API.')
    .addOption(reportOption())
    .addHelpText('after', examples([['espalier version -o json', 'for scripts']]))
    .action(async (options: { output: ReportFormat }) => {
      const { version } = await import('./commands/version.ts');
      version(options, terminal);
    });
}

const OPTION_CHOICES = /^option '.*(--[\w-]+).*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s;
const ARGUMENT_CHOICES =
  /^command-argument value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/s;

/** Commander's message, with the help page to read. */
function usageError(error: CommanderError, program: Command, args: readonly string[]): string {
  const sentence = error.message
    .replace(/^error: /, '')
    .replace(OPTION_CHOICES, '$1: there is no "$2"; choose $3')
    .replace(ARGUMENT_CHOICES, '$2: there is no "$1"; choose $3')
    .replace(/\n\(Did you mean (.*)\?\)$/s, (_, other: string) => `, did you mean ${other}?`)
    .replace(/ is invalid\. (?=[a-z])/, ' is invalid: ')
    .replace(/\.$/, '');
  return `${sentence}${sentence.endsWith('?') ? ' See' : '; see'} ${pathOf(commandOf(program, args))} --help`;
}

/** The deepest command in the arguments. */
function commandOf(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const arg of args) {
    const next = command.commands.find((c) => c.name() === arg || c.aliases().includes(arg));
    if (!next) break;
    command = next;
  }
  return command;
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
