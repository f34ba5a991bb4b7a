/** Commands for authors of deployers. */
import { InvalidArgumentError, type Command } from 'commander';
import type { CheckOptions } from './check.ts';
import type { ContainerProgramOptions } from '../container.ts';
import type { NewDeployerOptions } from './new.ts';
import { list } from '../../terminal/options.ts';
import { addLogOptions, examples, type Exit } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addDeployerCommands(
  program: Command,
  terminal: Terminal,
  onExit: (code: Exit) => void,
): void {
  const group = program
    .command('deployers')
    .alias('deployer')
    .summary('write deployers of your own and check them')
    .description('For authors of deployers. See docs/deployers.md.');
  addNew(group, terminal);
  addCheck(group, terminal, onExit);
}

function addNew(group: Command, terminal: Terminal): void {
  group
    .command('new')
    .argument('<name>', 'name of the deployer, such as dns-record')
    .summary('write the skeleton of a deployer')
    .description('Writes a working deployer in TypeScript with its test into a folder.')
    .option('--to <folder>', 'destination; default a folder with its name')
    .option('--type <domain/name>', 'type of the deploy items it handles; default example.org/<name>')
    .addHelpText(
      'after',
      examples([
        ['espalier deployers new dns-record --type example.org/dns', 'then: npm install && npm test'],
      ]),
    )
    .action(async (name: string, options: NewDeployerOptions) => {
      const { newDeployer } = await import('./new.ts');
      newDeployer(name, options, terminal);
    });
}

function addCheck(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  group
    .command('check')
    .argument('<file>', 'description of the deployer, see docs/deployers.md')
    .argument('[command...]', 'starts the deployer, which finds the cluster in KUBECONFIG')
    .summary('run the conformance suite against a deployer')
    .description(
      'Creates deploy items and jobs on a cluster as the controllers do, and checks how the deployer reacts. Works for deployers in any language. ' +
        'Without --kubeconfig it starts an API server.',
    )
    .option(
      '--kubeconfig <file>',
      'cluster with the CustomResourceDefinitions, on which the deployer runs or is started',
    )
    .option('--only <names>', 'names of checks, separated by commas', list)
    .option('--patience <seconds>', 'how long to wait for the deployer in each step; default 20', seconds)
    .addHelpText(
      'after',
      examples([
        ['espalier deployers check subject.yaml -- npm start', 'on an API server of its own'],
        ['espalier deployers check subject.yaml --kubeconfig kc.yaml', 'a deployer that is already running'],
      ]),
    )
    .action(async (file: string, command: readonly string[], options: CheckOptions) => {
      const { check } = await import('./check.ts');
      onExit(await check(file, command, options, terminal));
    });
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('write a number of seconds.');
  return value;
}

/** The commands that pods of the container deployer run. */
export function addContainerCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('container')
    .summary('programs of the helper containers; called in pods')
    .description(
      'The programs of the init and the wait container in pods of the container deployer. They are configured by ' +
        'variables, see docs/container.md.',
    );
  const add = (name: string, summary: string, description: string): Command => {
    const command = group
      .command(name)
      .summary(summary)
      .description(description)
      .option('--kubeconfig <file>', 'default: KUBECONFIG, then the account of the pod');
    addLogOptions(command);
    return command;
  };
  add(
    'init',
    'prepare the files for the image',
    'Writes imports, target and content, and restores the state.',
  )
    .option('--allow-plain-http', 'also use registries without TLS')
    .action(async (options: ContainerProgramOptions) => {
      const { containerInit } = await import('../container.ts');
      await containerInit(options, terminal);
    });
  add(
    'wait',
    'save the state and the exports of the image',
    'Waits until the main container has exited, then saves its state and its exports.',
  ).action(async (options: ContainerProgramOptions) => {
    const { containerWait } = await import('../container.ts');
    await containerWait(options, terminal);
  });
}
