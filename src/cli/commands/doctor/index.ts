/** `espalier doctor`. */
import type { Command } from 'commander';
import type { DoctorOptions } from './doctor.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import { reportOption } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addDoctorCommand(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const doctor = program
    .command('doctor')
    .summary('find objects that are stuck or inconsistent')
    .description(
      'Finds objects that are stuck or inconsistent, and shows for each the evidence, a command, and the risk of that command. ' +
        'Changes nothing without --fix, which asks before each change. Exit code 1 if problems are found or remain. See docs/doctor.md.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('-A, --all-namespaces', 'all namespaces')
    .option('--targets', 'also read the credentials of targets, and send a request to each of their clusters')
    .option('--system-namespace <name>', 'namespace of the controllers and their Leases', 'ls-system')
    .option('--check <name...>', 'only these checks')
    .option('--fix', 'fix the findings that are safe to fix, one at a time, after a confirmation')
    .option('-y, --yes', 'with --fix and --check: do not ask')
    .addOption(reportOption('output format: name is for scripts', ['name']))
    .addHelpText(
      'after',
      examples([
        ['espalier doctor -A', 'the whole cluster'],
        ['espalier doctor -n shop --fix', 'ask for each finding whether to fix it'],
        ['espalier doctor -A --fix --yes --check leftover-lock', 'delete all leftover locks, in a script'],
        ['espalier doctor -n shop --targets', 'a namespace, and the connections to its targets'],
      ]),
    )
    .action(async (options: DoctorOptions) => {
      const { doctor: run } = await import('./doctor.ts');
      onExit(await run(options, terminal));
    });
  addQuietLogOptions(addClusterOptions(doctor));
}
