/** Commands for authors of blueprints; names and short options are those of landscaper-cli. */
import type { Command } from 'commander';
import type { InlineOptions } from './inline.ts';
import type { LintOptions } from './lint.ts';
import type { RenderOptions } from './render.ts';
import { instant, wholeNumber } from '../../terminal/options.ts';
import { examples, type Exit } from '../../program-parts.ts';
import { objectOption, reportOption } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addBlueprintCommands(
  program: Command,
  terminal: Terminal,
  onExit: (code: Exit) => void,
): void {
  const group = program
    .command('blueprints')
    .aliases(['blueprint', 'blue', 'bp'])
    .summary('check and render blueprints, without a cluster')
    .description('Checks and renders blueprints, without a cluster. See docs/blueprints.md.');
  addLint(group, terminal, onExit);
  addValidate(group, terminal, onExit);
  addRender(group, terminal, onExit);
  addInline(group, terminal);
}

function addLint(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  withLintOptions(group.command('lint'))
    .summary('find mistakes in blueprints')
    .description(
      'Finds mistakes in blueprints, in their templates and in their sub-installations. Exit code 1 if there are errors.',
    )
    .addHelpText(
      'after',
      examples([
        ['espalier blueprints lint ./blueprint', 'the blueprint in a folder'],
        ['espalier demo --print | espalier blueprints lint -', 'the inline blueprint of an Installation'],
        ['espalier blueprints lint --strict -o github */blueprint', 'all blueprints, in a GitHub workflow'],
        ['espalier blueprints lint -o sarif ./blueprint > lint.sarif', 'for code scanning'],
      ]),
    )
    .action(async (paths: readonly string[], options: LintOptions) => {
      const { lint } = await import('./lint.ts');
      onExit(await lint(paths, options, terminal));
    });
}

function addValidate(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  withLintOptions(group.command('validate'))
    .summary('the same, for scripts written for landscaper-cli')
    .description(
      'Finds the same mistakes as lint. Prints "Blueprint validated without errors" like landscaper-cli. Exit code 1 ' +
        'if there are errors or there is no blueprint.',
    )
    .addHelpText(
      'after',
      examples([['espalier blueprints validate ./blueprint', 'the blueprint in a folder']]),
    )
    .action(async (paths: readonly string[], options: LintOptions) => {
      const { validate } = await import('./lint.ts');
      onExit(await validate(paths, options, terminal));
    });
}

const withLintOptions = (command: Command): Command =>
  command
    .argument(
      '[path...]',
      'folders with a blueprint.yaml, files with an Installation, or - for standard input',
    )
    .addOption(
      reportOption('output format: sarif for code scanning, github for annotations of GitHub', [
        'sarif',
        'github',
      ]),
    )
    .option('--strict', 'warnings are errors');

function addRender(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  group
    .command('render')
    .argument(
      '<blueprint>',
      'folder with a blueprint.yaml, file with an Installation, or - for standard input',
    )
    .summary('show the objects that an installation would create from a blueprint')
    .description(
      'Shows the sub-installations, deploy items and exports that an installation would create from a blueprint. ' +
        'Values from targets and secrets are masked.',
    )
    .option('-f, --imports <file>', 'values by import name; targets are Target objects')
    .option(
      '-c, --component <path>',
      'folder with a component.yaml, transport archive, or component descriptor',
    )
    .option('-e, --exports <file>', 'exports of the deploy items, by item name')
    .option('-i, --installation <file>', 'the Installation, for its names, mappings and exports')
    .option('--deep', 'render sub-installations too')
    .addOption(objectOption('objects, a picture of them', ['tree']))
    .option('--show-secrets', 'do not mask secret values')
    .option('--now <time>', 'time that templates see, such as 2026-01-31T12:00:00Z; default: now', instant)
    .option('--seed <number>', 'seed of the random functions in templates', wholeNumber, 1)
    .addHelpText(
      'after',
      examples([
        ['espalier blueprints render ./blueprint -f imports.yaml', 'the objects that would be created'],
        ['espalier bp render ./blueprint -f imports.yaml --deep -o tree', 'all levels, at a glance'],
        ['espalier bp render ./blueprint -f imports.yaml -e exports.yaml', 'with the exports'],
        ['espalier bp render ./shop/blueprint -c ./shop -f imports.yaml', 'in a component'],
      ]),
    )
    .action(async (blueprint: string, options: RenderOptions) => {
      const { render } = await import('./render.ts');
      onExit(await render(blueprint, options, terminal));
    });
}

function addInline(group: Command, terminal: Terminal): void {
  group
    .command('inline')
    .argument('<path...>', 'files with an Installation, folders with such files, or - for standard input')
    .summary('print installations with their blueprints inlined')
    .description(
      'Prints the installations in files, each with the blueprint that `espalier apply` would put into it. For programs that ' +
        'apply objects from a repository.',
    )
    .option('--no-lint', 'do not check the blueprints')
    .addHelpText(
      'after',
      examples([
        [
          'espalier blueprints inline ./shop > shop.yaml',
          'for a repository that is applied by another program',
        ],
        ['espalier bp inline ./shop | kubectl apply -f -', 'without espalier apply'],
      ]),
    )
    .action(async (paths: readonly string[], options: InlineOptions) => {
      const { inline } = await import('./inline.ts');
      await inline(paths, options, terminal);
    });
}
