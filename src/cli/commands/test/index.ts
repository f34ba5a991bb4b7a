/** `espalier test`. */
import { Option, type Command } from 'commander';
import type { TestOptions } from './test.ts';
import { examples, type Exit } from '../../program-parts.ts';
import { jobs } from '../../terminal/options.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addTestCommand(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  program
    .command('test')
    .argument('[path...]', 'files with tests, and folders with files named *.test.yaml; default this folder')
    .summary('test landscapes, without a cluster')
    .description(
      'Installs landscapes with all controllers on an API server in this process, and compares the results with what ' +
        'test files expect. Time is virtual, so nothing waits. See docs/landscape-tests.md.',
    )
    .option('--filter <text>', 'only cases whose name contains the text')
    .option(
      '--jobs <number>',
      'how many processes run cases; default: one for few cases, otherwise one for each processor, up to 4',
      jobs,
    )
    .option('--timeout <duration>', 'how long each case may take on this machine', '60s')
    .option('--update', 'write the snapshots instead of comparing them')
    .option('--coverage', 'list the installations, imports, templates and exports that no case has touched')
    .addOption(
      new Option('--format <format>', 'for people, or for other programs')
        .choices(['text', 'junit', 'github', 'json'])
        .default('text'),
    )
    .addHelpText(
      'after',
      examples([
        ['espalier test docs/samples/hello-landscape', 'the tests of the sample'],
        ['espalier test ./shop --filter database', 'some cases'],
        ['espalier test --format junit > report.xml', 'in a pipeline: all tests below this folder'],
      ]),
    )
    .action(async (paths: readonly string[], options: TestOptions) => {
      const { test } = await import('./test.ts');
      onExit(await test(paths, options, terminal));
    });
}
