/** Commands about the records of jobs. */
import type { Command } from 'commander';
import type { DiffOptions } from './diff.ts';
import type { JobListOptions } from './list.ts';
import type { JobsOptions } from './read.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import { listOption, reportOption } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addJobCommands(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const group = program
    .command('jobs')
    .aliases(['job'])
    .summary('show recorded jobs of root installations')
    .description(
      'Shows recorded jobs of root installations: who requested them, what changed, what they waited for, and their results. ' +
        'Needs the journal (journal.enabled in the configuration); see docs/jobs.md.',
    );
  addList(group, terminal, onExit);
  addShow(group, terminal, onExit);
  addDiff(group, terminal, onExit);
  addTimeline(group, terminal, onExit);
}

const JOB = 'number of the job, or the beginning of its id; default the last one';

/** Options that all commands of the group have. */
function addCommonOptions(command: Command, output = reportOption()): void {
  command
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .addOption(output);
  addQuietLogOptions(addClusterOptions(command));
}

function addList(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const list = group
    .command('list')
    .argument('[root]', 'root installation; default all roots of the namespace')
    .summary('list jobs, the latest first')
    .description('Lists the recorded jobs of roots, the latest first, and the jobs that are running.')
    .option('-A, --all-namespaces', 'jobs of all namespaces')
    .addHelpText(
      'after',
      examples([
        ['espalier jobs list -n shop', 'all jobs of a namespace'],
        ['espalier jobs list web -n shop -o json', 'export the records of web'],
        [
          'espalier jobs list web -n shop -o name | tail -n +51 | xargs -r kubectl delete -n shop',
          'keep the last 50',
        ],
      ]),
    )
    .action(async (root: string | undefined, options: JobListOptions) => {
      const { list: run } = await import('./list.ts');
      onExit(await run(root, options, terminal));
    });
  addCommonOptions(list, listOption());
}

function addShow(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const show = group
    .command('show')
    .argument('<root>', 'root installation')
    .argument('[job]', JOB)
    .summary('show what a job did')
    .description('Shows who requested a job, its inputs, the changes, and the results of its parts.')
    .addHelpText(
      'after',
      examples([
        ['espalier jobs show web -n shop', 'the last job'],
        ['espalier jobs show web 17 -n shop', 'job 17'],
      ]),
    )
    .action(async (root: string, job: string | undefined, options: JobsOptions) => {
      const { show: run } = await import('./show.ts');
      onExit(await run(root, job, options, terminal));
    });
  addCommonOptions(show);
}

function addDiff(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const diff = group
    .command('diff')
    .argument('<root>', 'root installation')
    .argument('[from]', 'number or id of the older job; default the one before the newer job')
    .argument('[to]', JOB)
    .summary('show what changed between two jobs')
    .description('Shows the differences of spec, blueprint, imports, parts and results of two jobs.')
    .option('--exit-code', 'exit with 1 if the inputs of the jobs differ')
    .addHelpText(
      'after',
      examples([
        ['espalier jobs diff web -n shop', 'the last two jobs'],
        ['espalier jobs diff web 12 17 -n shop', 'jobs 12 and 17'],
      ]),
    )
    .action(async (root: string, from: string | undefined, to: string | undefined, options: DiffOptions) => {
      const { diff: run } = await import('./diff.ts');
      onExit(await run(root, { from, to }, options, terminal));
    });
  addCommonOptions(diff);
}

function addTimeline(group: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const timeline = group
    .command('timeline')
    .argument('<root>', 'root installation')
    .argument('[job]', `${JOB}, also while it runs`)
    .summary('show when each part of a job ran and waited')
    .description('Shows when each part of a job ran (█) and when it waited for others (░).')
    .addHelpText('after', examples([['espalier jobs timeline web -n shop', 'the last or the running job']]))
    .action(async (root: string, job: string | undefined, options: JobsOptions) => {
      const { timeline: run } = await import('./timeline.ts');
      onExit(await run(root, job, options, terminal));
    });
  addCommonOptions(timeline);
}
