/** `espalier plan`. */
import type { Command } from 'commander';
import type { PlanOptions } from './plan.ts';
import { addClusterOptions, addQuietLogOptions, examples, type Exit } from '../../program-parts.ts';
import { reportOption } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export function addPlanCommand(program: Command, terminal: Terminal, onExit: (code: Exit) => void): void {
  const plan = program
    .command('plan')
    .argument('<name>', 'installation, or deploy item')
    .summary('show what the next job would change, and change nothing')
    .description(
      'Renders the objects of the next job with the current imports, and compares them with the objects on the targets, ' +
        'one by one. Nothing is written: the API servers get dry-run requests. Values of secrets are masked.',
    )
    .option('-n, --namespace <name>', "namespace; default that of the kubeconfig's context")
    .option('--delete', 'show what a deletion of the object would delete')
    .option('-d, --show-details', 'show whole objects that would be created or deleted')
    .addOption(reportOption())
    .option('--exit-code', 'exit with 2 if something would change')
    .option(
      '--out <file>',
      'save the plan, for espalier installations reconcile --plan; only of root installations',
    )
    .option(
      '--deployer <program>',
      'your own deployer, to plan its items: a module that exports it, a command, or TYPE=COMMAND; repeatable',
      (file: string, others: readonly string[] | undefined) => [...(others ?? []), file],
    )
    .option('--config <file>', 'configuration, a LandscaperConfiguration')
    .option(
      '--no-registry-credentials',
      'use only credentials that Contexts name, not those of registry.oci.configFiles in the configuration',
    )
    .option(
      '--kubeconfig-stdin',
      'read the kubeconfig from standard input; it has to contain its token and certificates',
    )
    .addHelpText(
      'after',
      examples([
        ['espalier plan web -n shop', 'what would a reconcile of web change?'],
        ['espalier plan web -n shop --delete', 'what would its deletion delete?'],
        ['espalier plan web -n shop --deployer ./dns/deployer.js', 'with a deployer of your own'],
        ["espalier plan web -n shop --deployer './file-deployer --folder out'", 'in any language'],
        ['espalier plan web -n shop --exit-code -o json > plan.json', 'in a pipeline'],
        ['espalier plan web -n shop --out web.plan', 'save it for a review'],
        [
          'espalier inst reconcile web -n shop --plan web.plan',
          'start the job if it does only what was saved',
        ],
      ]),
    )
    .action(async (name: string, options: PlanOptions) => {
      const { plan: run } = await import('./plan.ts');
      onExit(await run(name, options, terminal));
    });
  addQuietLogOptions(addClusterOptions(plan));
}
