/** Commands about blueprints, for their authors; names and short options as in Landscaper's own command line. */
import { Option, type Command } from 'commander';
import type { LintOptions } from './commands/blueprints-lint.ts';
import { examples, type Exit } from './program-parts.ts';
import type { Terminal } from './terminal.ts';

export function addBlueprintCommands(
  program: Command,
  terminal: Terminal,
  onExit: (code: Exit) => void,
): void {
  const group = program
    .command('blueprints')
    .aliases(['blueprint', 'bp'])
    .summary('check blueprints and try them out, without a cluster')
    .description('Checks blueprints and tries them out, without a cluster. See docs/blueprints.md.');
  addLint(group, terminal, onExit);
}

function addLint(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  group
    .command('lint')
    .aliases(['validate'])
    .argument('[path...]', 'folders with a blueprint.yaml, files with an Installation, or - for standard input')
    .summary('find mistakes in blueprints')
    .description(
      'Finds mistakes in blueprints, in their templates and in their sub-installations. Ends with 1 when there are errors.',
    )
    .addOption(
      new Option('-o, --output <format>', 'for people, for scripts, or as annotations of GitHub')
        .choices(['text', 'json', 'github'])
        .default('text'),
    )
    .option('--strict', 'warnings are errors')
    .addHelpText(
      'after',
      examples([
        ['espalier blueprints lint ./blueprint', 'the blueprint in a folder'],
        ['espalier demo --print | espalier blueprints lint -', 'the one in an Installation'],
        ['espalier blueprints lint --strict -o github */blueprint', 'all, in a workflow'],
      ]),
    )
    .action(async (paths: readonly string[], options: LintOptions) => {
      const { lint } = await import('./commands/blueprints-lint.ts');
      onExit(await lint(paths, options, terminal));
    });
}
