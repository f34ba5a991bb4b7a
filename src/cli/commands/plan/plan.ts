/** `espalier plan`: shows what the next job of an installation, or of a deploy item, would change on its targets. */
import { withNamed } from '../../named-objects.ts';
import type { NamespacedOptions } from '../../cluster.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { mustBeWritable } from '../../files.ts';
import { printValue } from '../../terminal/documents.ts';
import type { ReportFormat } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { countsOf, hasChanges } from './counts.ts';
import { planDocument } from './document.ts';
import { makePlan, planSettings } from './make-plan.ts';
import type { PlanningOptions } from './options.ts';
import { planLines } from './print.ts';
import { savePlan } from './saved-plan.ts';

export interface PlanOptions extends NamespacedOptions, PlanningOptions {
  readonly output: ReportFormat;
  readonly delete?: true;
  readonly showDetails?: true;
  readonly exitCode?: true;
  readonly out?: string;
}

/** Exit code with `--exit-code` if something would change, as with `terraform plan`. */
const CHANGES = 2;

/** @returns 0; 1 if the job would fail; with `--exit-code` 2 if it would change something */
export async function plan(printed: string, options: PlanOptions, terminal: Terminal): Promise<number> {
  const { out } = options;
  const isDelete = options.delete === true;
  if (out !== undefined) {
    if (isDelete) throw new UsageError('--out saves plans of jobs, so it cannot be combined with --delete');
    mustBeWritable(out);
  }
  const settings = await planSettings(options);
  return withNamed(
    printed,
    options,
    terminal,
    async (cluster, name) => {
      const made = await makePlan(name, { ...settings, isDelete }, cluster);
      const { tree, mask } = made;
      if (options.output !== 'text') terminal.print(printValue(planDocument(tree, mask), options.output));
      else {
        const printing = { paint: terminal.paint, mask, hasDetails: options.showDetails === true };
        for (const line of planLines(tree, printing)) terminal.print(line);
      }
      const counts = countsOf(tree);
      if (out !== undefined) savePlan(out, name, made, cluster.clock, terminal);
      if (counts.problems > 0) return exitCodes.failed;
      return options.exitCode && hasChanges(counts) ? CHANGES : exitCodes.ok;
    },
    'installations and deploy items',
  );
}
